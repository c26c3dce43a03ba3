"""Episodes that other tools recorded, in their own files; a file is read as it is described by who wrote it."""
