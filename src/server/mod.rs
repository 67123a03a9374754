//! Starting, watching and stopping a server, and asking it what it is.
