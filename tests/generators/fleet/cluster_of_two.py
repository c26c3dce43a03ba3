"""A Ray cluster of two nodes on this machine, kept up until its standard input closes; its address is printed first.

With `--lose` the second node is removed, as if its power were cut, once a line comes in.
"""

import os
import sys

os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")


def main() -> None:
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    second = cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20, resources={"second": 1})
    print(cluster.address, flush=True)
    for _ in sys.stdin:
        cluster.remove_node(second, allow_graceful=False)
        print("removed", flush=True)
    cluster.shutdown()


main()
