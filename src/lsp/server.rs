//! Runs a session on standard input and output.
//!
//! One thread reads, one analyses the workspace, and this one answers without waiting for the analysis.

use crate::prelude::*;
use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Instant;

use lsp_server::Message;

use super::analysis::{Analysis, Job};
use super::session::Session;
use super::transport::{self, Incoming};

/// Maximum number of messages read ahead.
const AHEAD: usize = 256;

enum Event {
    Incoming(Incoming),
    Analysed(Box<Analysis>),
    Ended,
}

/// Serves an editor until it sends `exit` or closes the input. Returns the exit code required by the protocol: 0 after
/// `shutdown`, else 1.
///
/// # Errors
/// If the output can't be written.
pub fn run(input: impl BufRead + Send + 'static, mut output: impl Write) -> io::Result<u8> {
    let (sender, events) = sync_channel(AHEAD);
    let (jobs, to_do) = channel();
    let done = sender.clone();
    // Neither thread is joined: both may be blocked.
    thread::spawn(move || read(input, &sender));
    thread::spawn(move || work(&to_do, &done));
    let mut session = Session::default();
    let mut queue = VecDeque::new();
    loop {
        for message in session.take() {
            transport::write(&message, &mut output)?;
        }
        if let Some(code) = session.exit() {
            return Ok(code);
        }
        if queue.is_empty()
            && session.due().is_some_and(|due| due <= Instant::now())
            && let Some(job) = session.job()
        {
            // The worker exists as long as the sender.
            let _ = jobs.send(job);
        }
        match next(&mut queue, &events, session.due()) {
            Some(Event::Incoming(incoming)) => match wanted(&incoming, &queue) {
                Ok(()) => session.receive(incoming),
                Err(id) => session.cancelled(id),
            },
            Some(Event::Analysed(analysis)) => session.analysed(*analysis),
            Some(Event::Ended) => session.end_of_input(),
            None => {}
        }
    }
}

/// The next event, after queueing all available ones; `None` if a job is due.
fn next(queue: &mut VecDeque<Event>, events: &Receiver<Event>, due: Option<Instant>) -> Option<Event> {
    if queue.is_empty() {
        let first = match due {
            Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match first {
            Ok(event) => queue.push_back(event),
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => return Some(Event::Ended),
        }
    }
    queue.extend(events.try_iter().take(AHEAD));
    queue.pop_front()
}

/// Whether a message is still wanted; else the id of the request, which a queued message cancels.
fn wanted(incoming: &Incoming, queue: &VecDeque<Event>) -> Result<(), RequestId> {
    let Incoming::Message(Message::Request(request)) = incoming else {
        return Ok(());
    };
    let cancels = |event: &Event| match event {
        Event::Incoming(Incoming::Message(Message::Notification(n))) => {
            let id = n.params.get("id").cloned();
            let id = id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
            n.method == "$/cancelRequest" && id.as_ref() == Some(&request.id)
        }
        _ => false,
    };
    if queue.iter().any(cancels) { Err(request.id.clone()) } else { Ok(()) }
}

fn read(mut input: impl BufRead, events: &SyncSender<Event>) {
    while let Ok(Some(incoming)) = transport::read(&mut input) {
        if events.send(Event::Incoming(incoming)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::Ended);
}

fn work(jobs: &Receiver<Job>, done: &SyncSender<Event>) {
    for job in jobs {
        let analysis = Box::new(job.run());
        if done.send(Event::Analysed(analysis)).is_err() {
            return;
        }
    }
}
