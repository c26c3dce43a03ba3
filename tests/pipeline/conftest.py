"""Tests of the pipeline run offline and quietly, as the command line does."""

from demoloom.pipeline.environment import prepare_environment

# Before any test module imports Ray, Prefect or LeRobot, which read these variables as they are imported.
prepare_environment()
