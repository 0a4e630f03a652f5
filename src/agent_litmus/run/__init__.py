"""Plan, session, engine, journal."""
