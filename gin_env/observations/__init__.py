"""What a player knows: views, observations and candidates."""
