//! Tests of the messages: what is sent arrives, and garbage is an error.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::{
    Execution, Files, Message, Overlay, PathView, Reply, Request, Restrictions, Sockets, View, receive, send,
};
use crate::process::ResourceLimits;
use crate::process::wire::HelperSetup;

#[test]
fn a_command_arrives_with_its_view_and_its_pipes() {
    let (near, far) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    let ((_told_end, told), (mut output_end, output)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
    let places = vec![
        ("/run".into(), PathView::Empty),
        ("/key".into(), PathView::Absent),
        ("/a".into(), PathView::ReadOnly("/b".into())),
        ("/tmp".into(), PathView::Writable("/c".into())),
    ];
    let restrictions =
        Restrictions { files: Files::OnlyIn(vec!["/w".into()]), sockets: Some(Sockets::Namespaced) };
    let execution = Execution {
        program: "/bin/bash".into(),
        arguments: vec!["-c".into(), "x".repeat(300_000).into()],
        variables: vec![("A".into(), "b=c\n".into())],
        dir: "/work".into(),
        view: Some(View { places: places.clone() }),
        restrictions: Some(restrictions.clone()),
        limits: ResourceLimits { processes: Some(7), memory_bytes: None, file_bytes: Some(9) },
        told,
        output,
        exchange: None,
    };
    let sender = std::thread::spawn(move || {
        Request::Start { id: 7, execution: Box::new(execution) }.send(near.as_fd()).unwrap();
        Request::Kill { id: 7 }.send(near.as_fd()).unwrap();
    });
    let Request::Start { id, execution } = Request::read(receive(far.as_fd()).unwrap().unwrap()).unwrap()
    else {
        panic!("another request")
    };
    assert_eq!((id, execution.view), (7, Some(View { places })));
    assert_eq!(execution.restrictions, Some(restrictions));
    assert_eq!(
        (execution.limits.processes, execution.limits.memory_bytes, execution.limits.file_bytes),
        (Some(7), None, Some(9))
    );
    assert_eq!(execution.arguments.last().map(|text| text.len()), Some(300_000));
    (&execution.output).write_all(b"through").unwrap();
    drop((execution.output, execution.told));
    let mut text = String::new();
    output_end.read_to_string(&mut text).unwrap();
    assert_eq!(text, "through");
    let next = Request::read(receive(far.as_fd()).unwrap().unwrap()).unwrap();
    assert!(matches!(next, Request::Kill { id: 7 }));
    sender.join().unwrap();
    assert!(receive(far.as_fd()).unwrap().is_none());
}

#[test]
fn a_setup_arrives_with_its_layers() {
    let (near, far) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    let overlays = vec![Overlay { lower: "/l".into(), upper: "/u".into(), work: "/w".into() }];
    let setup = HelperSetup { overlays, temporary: Some("/tmp/x".into()) };
    let inner = near.try_clone().unwrap();
    Request::Setup { setup: setup.clone(), inner }.send(near.as_fd()).unwrap();
    let Request::Setup { setup: arrived, .. } =
        Request::read(receive(far.as_fd()).unwrap().unwrap()).unwrap()
    else {
        panic!("another request")
    };
    assert_eq!(arrived, setup);
}

#[test]
fn garbage_is_an_error_at_every_length_and_never_a_panic() {
    let (near, far) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    for length in 0..64 {
        for byte in [0, 1, 2, 3, 4, 5, 255] {
            let body = vec![byte; length];
            drop(Request::read(Message { body: body.clone(), files: Vec::new() }));
            drop(Reply::read(Message { body, files: Vec::new() }));
        }
    }
    send(near.as_fd(), &[9], &[]).unwrap();
    assert!(Request::read(receive(far.as_fd()).unwrap().unwrap()).is_err());
    (&std::fs::File::from(near)).write_all(&u32::MAX.to_le_bytes()).unwrap();
    assert!(receive(far.as_fd()).is_err());
}
