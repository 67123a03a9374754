//! The order of things: which server starts when, which run comes next.
//!
//! Runs of a server stay together. Compared variants alternate instead, run by run where all their
//! servers can be up (A B, B A, …), or with `restart = "per_repeat"` in blocks A | B B | A A | B, so
//! that a drift of the machine does not pass for a difference.

use std::collections::BTreeMap;

use super::types::Step;
use crate::scenario::model::Order;

/// A run as the order sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot<'a> {
    pub(super) id: &'a str,
    /// Position of the variant.
    pub(super) variant: usize,
    /// The point without its variant; equal for runs that are compared.
    pub(super) cell: usize,
    /// From 1.
    pub(super) repeat: u32,
}

/// Who starts servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Servers {
    /// They run already, each under its own URL.
    Given,
    /// omni-bench starts one at a time; anew for every repeat or not.
    OneAtATime {
        /// Whether every repeat gets a fresh server.
        per_repeat: bool,
    },
    /// omni-bench starts them and several may be up together.
    Together,
}

/// The steps and the number of server starts. `compared` names variants that alternate, by position.
pub(super) fn steps(
    slots: &[Slot<'_>],
    names: &[&str],
    compared: &[usize],
    servers: Servers,
    order: Order,
) -> (Vec<Step>, u32) {
    let mut walk = Walk { names, servers, steps: Vec::new(), starts: 0 };
    let present = |variant: &usize| slots.iter().any(|slot| slot.variant == *variant);
    let group: Vec<usize> = compared.iter().copied().filter(present).collect();
    let alternates = group.len() > 1 && servers != Servers::OneAtATime { per_repeat: false };
    let mut variants: Vec<usize> = slots.iter().map(|slot| slot.variant).collect();
    variants.sort_unstable();
    variants.dedup();
    let mut group_done = false;
    for variant in variants {
        if alternates && group.contains(&variant) {
            if !std::mem::replace(&mut group_done, true) {
                walk.alternate(slots, &group, order);
            }
        } else {
            let own: Vec<Slot<'_>> = slots.iter().copied().filter(|slot| slot.variant == variant).collect();
            walk.alone(&own, variant, order);
        }
    }
    (walk.steps, walk.starts)
}

struct Walk<'a> {
    names: &'a [&'a str],
    servers: Servers,
    steps: Vec<Step>,
    starts: u32,
}

impl Walk<'_> {
    fn name(&self, variant: usize) -> String {
        self.names.get(variant).copied().unwrap_or_default().to_owned()
    }

    fn start(&mut self, variant: usize) {
        if self.servers != Servers::Given {
            self.starts += 1;
            self.steps.push(Step::StartServer { variant: self.name(variant) });
        }
    }

    fn stop(&mut self, variant: usize) {
        if self.servers != Servers::Given {
            self.steps.push(Step::StopServer { variant: self.name(variant) });
        }
    }

    fn run(&mut self, slot: &Slot<'_>) {
        self.steps.push(Step::Run { id: slot.id.to_owned() });
    }

    /// One variant after the other; its repeats in the asked order.
    fn alone(&mut self, slots: &[Slot<'_>], variant: usize, order: Order) {
        let mut slots = slots.to_vec();
        match order {
            Order::Interleaved => slots.sort_by_key(|slot| slot.repeat),
            Order::Grouped => slots.sort_by_key(|slot| slot.cell),
        }
        let fresh = self.servers == Servers::OneAtATime { per_repeat: true };
        let mut repeat = None;
        for slot in &slots {
            if repeat.is_none() || (fresh && repeat != Some(slot.repeat)) {
                if repeat.is_some() {
                    self.stop(variant);
                }
                self.start(variant);
            }
            repeat = Some(slot.repeat);
            self.run(slot);
        }
        if repeat.is_some() {
            self.stop(variant);
        }
    }

    fn alternate(&mut self, slots: &[Slot<'_>], group: &[usize], order: Order) {
        // rank in the group, so that the baseline comes first
        let rank = |slot: &Slot<'_>| group.iter().position(|variant| *variant == slot.variant);
        let members: Vec<(usize, Slot<'_>)> =
            slots.iter().filter_map(|slot| rank(slot).map(|rank| (rank, *slot))).collect();
        if self.servers == (Servers::OneAtATime { per_repeat: true }) {
            self.blocks(&members);
        } else {
            self.run_by_run(&members, group, order);
        }
    }

    /// Every cell is carried out by all variants in turn; the turn is reversed from cell to cell and
    /// from repeat to repeat.
    fn run_by_run(&mut self, members: &[(usize, Slot<'_>)], group: &[usize], order: Order) {
        let mut cells: BTreeMap<(u64, u64), Vec<(usize, Slot<'_>)>> = BTreeMap::new();
        for (rank, slot) in members {
            let (cell, repeat) = (slot.cell as u64, u64::from(slot.repeat));
            let key = match order {
                Order::Interleaved => (repeat, cell),
                Order::Grouped => (cell, repeat),
            };
            cells.entry(key).or_default().push((*rank, *slot));
        }
        for variant in group {
            self.start(*variant);
        }
        // cells are numbered among those that are left, so that the turn alternates without gaps
        let firsts: Vec<u64> = members.iter().map(|(_, slot)| slot.cell as u64).collect();
        let mut numbers: Vec<u64> = firsts;
        numbers.sort_unstable();
        numbers.dedup();
        for turn in cells.into_values() {
            let mut turn = turn;
            turn.sort_by_key(|(rank, _)| *rank);
            let odd = turn.first().is_some_and(|(_, slot)| {
                let number = numbers.partition_point(|cell| *cell < slot.cell as u64) as u64;
                (number + u64::from(slot.repeat)).is_multiple_of(2)
            });
            if odd {
                turn.reverse();
            }
            for (_, slot) in &turn {
                self.run(slot);
            }
        }
        for variant in group {
            self.stop(*variant);
        }
    }

    /// All cells of a variant and repeat are a block; the turn of variants is reversed from repeat to
    /// repeat, and a block that follows one of the same variant keeps its server.
    fn blocks(&mut self, members: &[(usize, Slot<'_>)]) {
        let mut repeats: BTreeMap<u32, BTreeMap<usize, Vec<Slot<'_>>>> = BTreeMap::new();
        for (rank, slot) in members {
            repeats.entry(slot.repeat).or_default().entry(*rank).or_default().push(*slot);
        }
        let mut up: Option<usize> = None;
        for (repeat, blocks) in repeats {
            let mut blocks: Vec<Vec<Slot<'_>>> = blocks.into_values().collect();
            if repeat.is_multiple_of(2) {
                blocks.reverse();
            }
            for block in blocks {
                let Some(variant) = block.first().map(|slot| slot.variant) else { continue };
                if up != Some(variant) {
                    if let Some(other) = up {
                        self.stop(other);
                    }
                    self.start(variant);
                    up = Some(variant);
                }
                for slot in &block {
                    self.run(slot);
                }
            }
        }
        if let Some(variant) = up {
            self.stop(variant);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts as `+a`, stops as `-a`, runs by their id `a0.1`: variant, cell, repeat.
    fn order(
        variants: usize,
        cells: usize,
        repeats: u32,
        compared: &[usize],
        servers: Servers,
        order: Order,
    ) -> (String, u32) {
        let names = ["a", "b", "c"];
        let mut ids = Vec::new();
        for (variant, name) in names.iter().enumerate().take(variants) {
            for cell in 0..cells {
                for repeat in 1..=repeats {
                    ids.push((format!("{name}{cell}.{repeat}"), variant, cell, repeat));
                }
            }
        }
        let slots: Vec<Slot<'_>> = ids
            .iter()
            .map(|(id, variant, cell, repeat)| Slot { id, variant: *variant, cell: *cell, repeat: *repeat })
            .collect();
        let (steps, starts) = steps(&slots, &names, compared, servers, order);
        let told: Vec<String> = steps
            .into_iter()
            .map(|step| match step {
                Step::StartServer { variant } => format!("+{variant}"),
                Step::StopServer { variant } => format!("-{variant}"),
                Step::Run { id } => id,
            })
            .collect();
        (told.join(" "), starts)
    }

    const NEVER: Servers = Servers::OneAtATime { per_repeat: false };
    const FRESH: Servers = Servers::OneAtATime { per_repeat: true };

    #[test]
    fn a_server_is_started_once_and_repeats_are_interleaved_or_grouped() {
        assert_eq!(
            order(2, 2, 2, &[], NEVER, Order::Interleaved),
            ("+a a0.1 a1.1 a0.2 a1.2 -a +b b0.1 b1.1 b0.2 b1.2 -b".into(), 2)
        );
        assert_eq!(order(1, 2, 2, &[], NEVER, Order::Grouped), ("+a a0.1 a0.2 a1.1 a1.2 -a".into(), 1));
        assert_eq!(order(1, 2, 1, &[], Servers::Given, Order::Interleaved), ("a0.1 a1.1".into(), 0));
    }

    #[test]
    fn compared_variants_alternate_run_by_run_where_both_can_be_up() {
        assert_eq!(
            order(2, 1, 4, &[0, 1], Servers::Given, Order::Interleaved),
            ("a0.1 b0.1 b0.2 a0.2 a0.3 b0.3 b0.4 a0.4".into(), 0)
        );
        assert_eq!(
            order(2, 2, 2, &[0, 1], Servers::Together, Order::Interleaved),
            ("+a +b a0.1 b0.1 b1.1 a1.1 b0.2 a0.2 a1.2 b1.2 -a -b".into(), 2)
        );
        assert_eq!(
            order(2, 2, 2, &[0, 1], Servers::Given, Order::Grouped),
            ("a0.1 b0.1 b0.2 a0.2 b1.1 a1.1 a1.2 b1.2".into(), 0)
        );
        assert_eq!(
            order(3, 1, 2, &[2, 0], Servers::Given, Order::Interleaved),
            ("c0.1 a0.1 a0.2 c0.2 b0.1 b0.2".into(), 0),
            "the baseline goes first, and variants outside the comparison keep to themselves"
        );
    }

    #[test]
    fn blocks_of_repeats_cost_one_start_more_than_there_are_repeats() {
        assert_eq!(
            order(2, 1, 3, &[0, 1], FRESH, Order::Interleaved),
            ("+a a0.1 -a +b b0.1 b0.2 -b +a a0.2 a0.3 -a +b b0.3 -b".into(), 4)
        );
        for repeats in 1..6 {
            assert_eq!(order(2, 3, repeats, &[0, 1], FRESH, Order::Interleaved).1, repeats + 1);
        }
    }

    #[test]
    fn without_a_restart_compared_variants_have_one_start_each() {
        assert_eq!(order(2, 1, 2, &[0, 1], NEVER, Order::Interleaved), ("+a a0.1 a0.2 -a +b b0.1 b0.2 -b".into(), 2));
    }

    #[test]
    fn every_repeat_may_get_a_fresh_server() {
        assert_eq!(order(1, 2, 2, &[], FRESH, Order::Interleaved), ("+a a0.1 a1.1 -a +a a0.2 a1.2 -a".into(), 2));
    }
}
