//! What waits for a child, what wakes it, and what is refused.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::*;
use crate::time::Timestamp;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn said(text: &str) -> AgentMessage {
    AgentMessage::user(text, Timestamp::default())
}

#[test]
fn a_message_wakes_whoever_waits_for_its_kind_and_closing_wakes_all() {
    let inbox = ChildInbox::new(CancellationToken::new());
    let woken = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    let mut steering = pin!(inbox.next(ChildMessageTime::Steer));
    let mut follow_up = pin!(inbox.next(ChildMessageTime::FollowUp));
    assert_eq!(steering.as_mut().poll(&mut context), Poll::Pending);
    assert_eq!(follow_up.as_mut().poll(&mut context), Poll::Pending);
    inbox.say(ChildMessageTime::Steer, said("left")).unwrap();
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    assert_eq!(steering.as_mut().poll(&mut context), Poll::Ready(Some(said("left"))));
    assert_eq!(follow_up.as_mut().poll(&mut context), Poll::Pending);
    inbox.close();
    assert_eq!(woken.0.load(Ordering::Relaxed), 2);
    assert_eq!(follow_up.as_mut().poll(&mut context), Poll::Ready(None));
    assert_eq!(inbox.say(ChildMessageTime::Steer, said("right")), Err(ChildInboxError::Closed));
}

#[test]
fn what_waits_is_bounded() {
    let inbox = ChildInbox::new(CancellationToken::new());
    for _ in 0..MESSAGES_MAX {
        inbox.say(ChildMessageTime::FollowUp, said("more")).unwrap();
    }
    assert_eq!(inbox.say(ChildMessageTime::FollowUp, said("more")), Err(ChildInboxError::Full));
    assert_eq!(inbox.say(ChildMessageTime::Steer, said("more")), Ok(()));
}
