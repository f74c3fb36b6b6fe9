"""The colours of schemes, the same in every figure."""

__all__ = ["COLOURS"]

# Okabe and Ito's colours, which people with any colour vision can tell apart; brown replaces yellow, which is hard to see on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
