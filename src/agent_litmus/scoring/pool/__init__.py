"""Scoring any number of episodes from column batches: one pass, counts only, shards can be merged."""
