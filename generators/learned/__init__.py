"""Learned worlds: an autoencoder, action-conditioned dynamics on its latents, and what reads them.

Import from the modules: `world` to drive one, `training` to train one. Both need torch; this package does not.
"""
