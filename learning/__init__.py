"""Datasets, models, optimisers and training: the only home of torch."""
