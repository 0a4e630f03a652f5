"""Episode files: JSON lines or Parquet, one row per assessed episode, schema-versioned, written whole."""

from agent_litmus.formats.episodes.document import episodes_schema
from agent_litmus.formats.episodes.read import EpisodeFile, open_episodes
from agent_litmus.formats.episodes.write import EpisodeWriter, episode_writer

__all__ = ["EpisodeFile", "EpisodeWriter", "episode_writer", "episodes_schema", "open_episodes"]
