from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import StoreContract
from demoloom.storage.video import ImageCodec


class TestLeRobotStore(StoreContract):
    def create(self, path, spec, exist_ok=False):
        return LeRobotStore.create(path, spec, exist_ok=exist_ok)


class TestLeRobotStoreOfImages(StoreContract):
    def create(self, path, spec, exist_ok=False):
        return LeRobotStore.create(path, spec, codec=ImageCodec(), exist_ok=exist_ok)
