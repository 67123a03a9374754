//! Every fault the simulator can commit, against every endpoint: how it is judged, and that its neighbours are unharmed.

#![cfg(test)]
