//! The search: breadth first over all states that can be reached, each held to the laws, and then back
//! from the ends to see that each has a way there.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use roundgate::engine::{Actor, Decision};

use crate::key::{Key, key};
use crate::laws::{Breach, Law, of_state, of_step};
use crate::moves::{Came, Move, attempt, decision, tries};
use crate::world::{Setup, State};

/// What a search saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Different states.
    pub states: usize,
    /// Steps from one to another.
    pub steps: usize,
    /// States in which everything is final.
    pub finals: usize,
    /// States in which a human must move.
    pub humans: usize,
    /// How many steps the farthest state is away.
    pub depth: usize,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { states, steps, finals, humans, depth } = self;
        write!(f, "{states} states, {steps} steps, {finals} final, {humans} wait for a human, {depth} deep")
    }
}

/// A broken law, and the shortest way there.
#[derive(Debug)]
pub struct Counterexample {
    pub breach: Breach,
    pub path: Vec<Move>,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.breach)?;
        for (n, made) in self.path.iter().enumerate() {
            writeln!(f, "{:4}. {made}", n + 1)?;
        }
        Ok(())
    }
}

/// Every how many states that were seen before are looked at again, to see that they are the same.
const AGAIN: usize = 400;

/// A state's place in the order in which they were found.
type Place = u32;

struct Search<'s> {
    setup: &'s Setup,
    seen: HashMap<Key, Place>,
    /// The first way to each state.
    from: Vec<Option<(Place, Move)>>,
    depth: Vec<usize>,
    steps: Vec<(Place, Place)>,
    ticks: Vec<Option<Place>>,
    ends: Vec<Place>,
    again: Vec<(Place, State)>,
    figures: Figures,
}

/// Searches all there is.
pub fn search(setup: &Setup) -> Result<Figures, Box<Counterexample>> {
    let mut search = Search {
        setup,
        seen: HashMap::new(),
        from: Vec::new(),
        depth: Vec::new(),
        steps: Vec::new(),
        ticks: Vec::new(),
        ends: Vec::new(),
        again: Vec::new(),
        figures: Figures::default(),
    };
    search.run()?;
    search.ticks_come_to_rest()?;
    search.all_go_forward()?;
    search.same_keys_mean_the_same()?;
    search.figures.states = search.from.len();
    search.figures.steps = search.steps.len();
    Ok(search.figures)
}

impl Search<'_> {
    fn run(&mut self) -> Result<(), Box<Counterexample>> {
        let mut open: VecDeque<(Place, State)> = VecDeque::new();
        let first = self.setup.first();
        let (place, _) = self.place(&first, None);
        self.look_at(place, &first)?;
        open.push_back((place, first));
        let mut repeated = 0;
        while let Some((here, state)) = open.pop_front() {
            for made in tries(&state) {
                let next = match attempt(self.setup, &state, &made) {
                    Came::Refused | Came::Nothing => continue,
                    Came::To(next) => *next,
                    Came::Broken(why) => return Err(self.counterexample(here, Some(made), Law::Whole, why)),
                };
                if let Err(breach) = of_step(self.setup, &state, &made, &next) {
                    return Err(self.counterexample(here, Some(made), breach.law, breach.why));
                }
                let (there, new) = self.place(&next, Some((here, &made)));
                if made == Move::Tick {
                    self.ticks[here as usize] = Some(there);
                }
                if here != there {
                    self.steps.push((here, there));
                }
                if new {
                    self.look_at(there, &next)?;
                    open.push_back((there, next));
                } else {
                    repeated += 1;
                    if repeated % AGAIN == 0 {
                        self.again.push((there, next));
                    }
                }
            }
        }
        Ok(())
    }

    /// The place of a state, and whether it is new.
    fn place(&mut self, state: &State, from: Option<(Place, &Move)>) -> (Place, bool) {
        let next = Place::try_from(self.from.len()).unwrap();
        let place = *self.seen.entry(key(self.setup, state)).or_insert(next);
        if place == next {
            self.depth.push(from.map_or(0, |(place, _)| self.depth[place as usize] + 1));
            self.from.push(from.map(|(place, made)| (place, made.clone())));
            self.ticks.push(None);
        }
        (place, place == next)
    }

    fn look_at(&mut self, place: Place, state: &State) -> Result<(), Box<Counterexample>> {
        if let Err(breach) = of_state(self.setup, state) {
            return Err(self.counterexample(place, None, breach.law, breach.why));
        }
        self.figures.depth = self.figures.depth.max(self.depth[place as usize]);
        match decision(self.setup, state) {
            Decision::Done => {
                self.figures.finals += 1;
                self.ends.push(place);
            }
            Decision::Wait(waiting) if waiting.actor == Actor::Human => self.figures.humans += 1,
            _ => {}
        }
        Ok(())
    }

    /// From every state there is a way to one in which all is final: a human's answers are among the moves,
    /// so that this is more than a way to a human.
    fn all_go_forward(&self) -> Result<(), Box<Counterexample>> {
        let mut starts = vec![0_usize; self.from.len() + 1];
        self.steps.iter().for_each(|&(_, to)| starts[to as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut filled = starts.clone();
        let mut backwards = vec![0; self.steps.len()];
        for &(from, to) in &self.steps {
            backwards[filled[to as usize]] = from;
            filled[to as usize] += 1;
        }
        let mut reached = vec![false; self.from.len()];
        let mut open = self.ends.clone();
        open.iter().for_each(|&end| reached[end as usize] = true);
        while let Some(place) = open.pop() {
            for &from in &backwards[starts[place as usize]..starts[place as usize + 1]] {
                if !std::mem::replace(&mut reached[from as usize], true) {
                    open.push(from);
                }
            }
        }
        match reached.iter().position(|reached| !reached) {
            None => Ok(()),
            Some(place) => {
                let lost = reached.iter().filter(|reached| !**reached).count();
                let why = format!("no way leads on from here, and from {lost} states in all");
                Err(self.counterexample(place as Place, None, Law::Forward, why))
            }
        }
    }

    /// Following ticks alone never comes back to where it was.
    fn ticks_come_to_rest(&self) -> Result<(), Box<Counterexample>> {
        let mut rests = vec![false; self.ticks.len()];
        for start in 0..self.ticks.len() {
            let mut path = Vec::new();
            let mut at = start;
            while !rests[at] {
                path.push(at);
                let Some(next) = self.ticks[at] else { break };
                at = next as usize;
                if path.len() > self.ticks.len() {
                    let why = "ticks go round in a circle".to_owned();
                    return Err(self.counterexample(start as Place, None, Law::Rest, why));
                }
            }
            path.into_iter().for_each(|at| rests[at] = true);
        }
        Ok(())
    }

    /// From two states that count as one, the same states are reached.
    fn same_keys_mean_the_same(&self) -> Result<(), Box<Counterexample>> {
        let mut wanted: HashMap<Place, Vec<Place>> =
            self.again.iter().map(|(at, _)| (*at, Vec::new())).collect();
        for &(from, to) in &self.steps {
            wanted.entry(from).and_modify(|to_all| to_all.push(to));
        }
        for (place, state) in &self.again {
            let reached =
                tries(state).into_iter().filter_map(|made| match attempt(self.setup, state, &made) {
                    Came::To(next) => Some(self.seen.get(&key(self.setup, &next)).copied()),
                    _ => None,
                });
            let mut reached: Vec<Option<Place>> = reached.filter(|to| *to != Some(*place)).collect();
            let mut before: Vec<Option<Place>> = wanted[place].iter().map(|&to| Some(to)).collect();
            [&mut reached, &mut before].into_iter().for_each(|all| all.sort_unstable());
            [&mut reached, &mut before].into_iter().for_each(|all| all.dedup());
            if reached != before {
                let why = format!("taken for one, and leads to {reached:?} and not to {before:?}");
                return Err(self.counterexample(*place, None, Law::Key, why));
            }
        }
        Ok(())
    }

    fn counterexample(&self, at: Place, last: Option<Move>, law: Law, why: String) -> Box<Counterexample> {
        let mut path: Vec<Move> = last.into_iter().collect();
        let mut at = at;
        while let Some((from, made)) = &self.from[at as usize] {
            path.push(made.clone());
            at = *from;
        }
        path.reverse();
        Box::new(Counterexample { breach: Breach { law, why }, path })
    }
}
