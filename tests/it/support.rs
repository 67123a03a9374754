//! What several test areas share.
