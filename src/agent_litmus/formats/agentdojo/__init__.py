"""AgentDojo's run files (arXiv 2406.13352), read as they are: directory or tar archive, file by file."""
