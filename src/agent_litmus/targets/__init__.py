"""How an agent under test is driven."""
