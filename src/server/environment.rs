//! The facts of the machine and of the server beside every number: detected, never guessed.
