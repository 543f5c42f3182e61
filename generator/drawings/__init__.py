"""Pictures of cards, drawn from the card's name, set, rarity and game."""
