//! Tests of campaign.
