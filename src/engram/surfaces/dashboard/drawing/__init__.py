"""How things look: transcripts as beats, changes as diffs, figures as plots, strangers' words as safe HTML. Pure."""
