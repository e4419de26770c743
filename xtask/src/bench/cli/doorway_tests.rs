//! What counts as a request to a model.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::Doorway;

#[test]
fn the_first_request_to_a_model_is_noted_and_others_are_not_found() {
    let doorway = Doorway::open().unwrap();
    let address = doorway.url.strip_prefix("http://").unwrap().to_owned();
    let agent = std::thread::spawn(move || {
        drop(TcpStream::connect(&address).unwrap());
        let mut probe = TcpStream::connect(&address).unwrap();
        probe.write_all(b"GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut answer = String::new();
        probe.read_to_string(&mut answer).unwrap();
        let mut request = TcpStream::connect(&address).unwrap();
        request.write_all(b"POST /v1/messages HTTP/1.1\r\nContent-").unwrap();
        request.write_all(b"Length: 1234\r\n\r\n{").unwrap();
        answer
    });
    let knock = doorway.wait().unwrap();
    assert_eq!(knock.body_bytes, 1234);
    assert!(agent.join().unwrap().starts_with("HTTP/1.1 404 "));
}
