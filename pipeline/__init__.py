"""The run as a whole: its stages, the Prefect flow over them, the command line and the report."""
