//! Operations of OpenAPI documents as tools, against a server that repeats what it was sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use rheon_connect::{
    OpenApiAdapter, OpenApiAuth, OpenApiConfig, OpenApiError, OpenApiTools, OperationFilter,
};
use rheon_types::{Effect, Tool};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::fixture::{TestUser, shown};

const PETS: &str = r##"
openapi: 3.0.3
servers:
  - url: BASE/v1/
paths:
  /pets/{petId}:
    parameters:
      - { name: petId, in: path, required: true, schema: { type: string } }
    get:
      operationId: getPet
      summary: Reads a pet
      tags: [pets]
      parameters:
        - { name: tags, in: query, schema: { type: array, items: { type: string } } }
        - { name: ids, in: query, explode: false, schema: { type: array, items: { type: integer } } }
        - { name: filter, in: query, style: deepObject, explode: true, schema: { type: object } }
        - { name: X-Trace, in: header, description: "A\u200b trace", schema: { type: string } }
        - { name: theme, in: cookie, schema: { type: string } }
    put:
      operationId: putPet
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } }
  /pets:
    post:
      requestBody: { content: { application/x-www-form-urlencoded: { schema: { type: object } } } }
    patch:
      operationId: upload
      requestBody: { content: { multipart/form-data: { schema: { type: object } } } }
    delete:
      operationId: broken
      parameters: [ { name: x, in: nowhere } ]
components:
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: { type: string, nullable: true, example: Rex }
        friend: { $ref: '#/components/schemas/Pet' }
"##;

/// Answers of a server, by path; anything else is repeated.
type Answers = fn(&str) -> Option<Vec<u8>>;

/// A server on this machine; its address, and what it was sent.
async fn server(answers: Answers) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let log = Arc::clone(&log);
            tokio::spawn(async move {
                let request = read(&mut stream).await;
                log.lock().unwrap().push(request.clone());
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                let answer = match answers(&path) {
                    Some(answer) if answer.is_empty() => std::future::pending().await,
                    Some(answer) => answer,
                    None => format!(
                        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{request}",
                        request.len()
                    )
                    .into_bytes(),
                };
                drop(stream.write_all(&answer).await);
                drop(stream.shutdown().await);
            });
        }
    });
    (address, seen)
}

/// A whole request, without what differs between machines.
async fn read(stream: &mut tokio::net::TcpStream) -> String {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0usize) {
                let skipped = ["host:", "user-agent:", "accept-encoding:", "accept:"];
                let kept = head.lines().filter(|line| !skipped.iter().any(|skip| line.starts_with(skip)));
                return format!("{}\n\n{}", kept.collect::<Vec<_>>().join("\n"), body.replace("\r\n", "\n"));
            }
        }
        let count = stream.read(&mut chunk).await.unwrap();
        if count == 0 {
            return text;
        }
        bytes.extend_from_slice(&chunk[..count]);
    }
}

fn tools(text: &str, config: OpenApiConfig, filter: OperationFilter) -> OpenApiTools {
    OpenApiAdapter::from_str(text, config, filter).unwrap()
}

fn named(tools: &OpenApiTools, name: &str) -> Arc<dyn Tool> {
    Arc::clone(tools.tools.iter().find(|tool| tool.name() == name).unwrap())
}

async fn call(tools: &OpenApiTools, name: &str, arguments: Value) -> String {
    shown(&named(tools, name).execute(Arc::new(arguments), TestUser::default().context()).await)
}

#[tokio::test]
async fn arguments_go_where_the_document_says() {
    let (base, _) = server(|_| None).await;
    let tools = tools(&PETS.replace("BASE", &base), OpenApiConfig::default(), OperationFilter::All);
    let plain = |text: String| text.replace(&base, "BASE");
    let all = json!({
        "petId": "a/b c", "tags": ["x", "y&z"], "ids": [1, 2], "filter": { "age": 3 }, "X-Trace": "t", "theme": "d k",
    });
    expect![[r#"
        GET BASE/v1/pets/a%2Fb%20c?tags=x&tags=y%26z&ids=1%2C2&filter%5Bage%5D=3 → 200

        GET /v1/pets/a%2Fb%20c?tags=x&tags=y%26z&ids=1%2C2&filter%5Bage%5D=3 HTTP/1.1
        x-trace: t
        cookie: theme=d%20k

    "#]]
    .assert_eq(&plain(call(&tools, "getPet", all).await));
    let pet = json!({ "petId": "1", "body": { "name": "Rex" } });
    expect![[r#"
        PUT BASE/v1/pets/1 → 200

        PUT /v1/pets/1 HTTP/1.1
        content-type: application/json
        content-length: 14

        {"name":"Rex"}"#]]
    .assert_eq(&plain(call(&tools, "putPet", pet).await));
    let form = json!({ "body": { "a": "1 2", "b": [3, 4] } });
    expect![[r#"
        POST BASE/v1/pets → 200

        POST /v1/pets HTTP/1.1
        content-type: application/x-www-form-urlencoded
        content-length: 13

        a=1+2&b=3&b=4"#]]
    .assert_eq(&plain(call(&tools, "post_pets", form.clone()).await));
    let upload = plain(call(&tools, "upload", form).await);
    assert!(upload.contains("Content-Disposition: form-data; name=\"a\"\n\n1 2\n--"), "{upload}");
    expect!["invalidArgs: `petId` is missing"].assert_eq(&call(&tools, "getPet", json!({})).await);
    expect!["invalidArgs: `petId` must not be \"..\""]
        .assert_eq(&call(&tools, "getPet", json!({ "petId": ".." })).await);
    expect!["invalidArgs: `body` is missing"]
        .assert_eq(&call(&tools, "putPet", json!({ "petId": "1" })).await);
}

#[tokio::test]
async fn tools_have_names_schemas_and_effects_and_one_bad_operation_is_left_out() {
    let config = || OpenApiConfig { base_url: Some("https://x.example".into()), ..OpenApiConfig::default() };
    let all = tools(PETS, config(), OperationFilter::All);
    let lines: Vec<String> = all
        .tools
        .iter()
        .map(|tool| {
            format!("{} {:?} {}", tool.name(), tool.effect(), tool.description().replace('\n', " | "))
        })
        .collect();
    expect![[r#"
        post_pets Unsafe POST /pets
        upload Unsafe PATCH /pets
        getPet Pure Reads a pet | GET /pets/{petId}
        putPet Unsafe PUT /pets/{petId}"#]]
    .assert_eq(&lines.join("\n"));
    expect![[r#"DELETE /pets is left out: the parameter "x" is in "nowhere""#]]
        .assert_eq(&all.warnings.join("\n"));
    expect![[r#"{"properties":{"body":{"properties":{"friend":{},"name":{"type":["string","null"]}},"required":["name"],"type":"object"},"petId":{"type":"string"}},"required":["petId","body"],"type":"object"}"#]]
        .assert_eq(&named(&all, "putPet").parameters_schema().to_string());
    assert_eq!(
        named(&all, "getPet").parameters_schema()["properties"]["X-Trace"],
        json!({ "type": "string", "description": "A trace" })
    );
    let names = |filter: OperationFilter| -> Vec<String> {
        let config = OpenApiConfig { name_prefix: Some("zoo".into()), ..config() };
        tools(PETS, config, filter).tools.iter().map(|tool| tool.name().to_owned()).collect()
    };
    assert_eq!(names(OperationFilter::ByTag(vec!["pets".into()])), ["zoo__getPet"]);
    assert_eq!(names(OperationFilter::ByOperationId(vec!["putPet".into()])), ["zoo__putPet"]);
    assert_eq!(names(OperationFilter::ByPathPrefix("/pets/".into())), ["zoo__getPet", "zoo__putPet"]);
    assert_eq!(named(&all, "getPet").effect(), Effect::Pure);
}

#[test]
fn documents_that_cannot_be_used_say_why() {
    let problem = |text: &str| -> String {
        let error: OpenApiError =
            OpenApiAdapter::from_str(text, OpenApiConfig::default(), OperationFilter::All).err().unwrap();
        error.to_string()
    };
    let texts = [
        r#"{"swagger":"2.0"}"#,
        "{",
        "a: [",
        "openapi: 2.9.9",
        "{}",
        r#"{"openapi":"3.1.0","paths":{}}"#,
        r#"{"openapi":"3.1.0","servers":[{"url":"file:///etc"}]}"#,
    ];
    let problems: Vec<String> = texts.iter().map(|text| problem(text)).collect();
    expect![[r#"
        this is a Swagger 2.0 document; convert it to OpenAPI 3 first
        the document is neither JSON nor YAML: EOF while parsing an object at line 1 column 1"#]]
    .assert_eq(&problems[..2].join("\n"));
    assert!(problems[2].starts_with("the document is neither JSON nor YAML: "), "{}", problems[2]);
    expect![[r#"
        not an OpenAPI 3 document: its version is "2.9.9"
        not an OpenAPI 3 document: the key "openapi" is missing
        the document names no server; set the base URL
        invalid base URL "file:///etc": invalid address "file:///etc": the scheme "file" is not http or https"#]]
    .assert_eq(&problems[3..].join("\n"));
}

#[tokio::test]
async fn answers_that_are_long_binary_late_or_elsewhere_are_bounded() {
    let (base, seen) = server(|path| {
        Some(match path {
            "/long" => {
                format!("HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n{}", "€".repeat(3000)).into_bytes()
            }
            "/bytes" => b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n\xff\xfe\x00".to_vec(),
            "/moved" => {
                b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_vec()
            }
            "/late" => Vec::new(),
            _ => return None,
        })
    })
    .await;
    let text = format!(
        r#"{{"openapi":"3.1.0","servers":[{{"url":"{base}"}}],"paths":{{
            "/long":{{"get":{{"operationId":"long"}}}},"/bytes":{{"get":{{"operationId":"bytes"}}}},
            "/moved":{{"get":{{"operationId":"moved"}}}},"/late":{{"get":{{"operationId":"late"}}}}}}}}"#
    );
    let config = OpenApiConfig { max_response_bytes: 100, ..OpenApiConfig::default() };
    let quick = tools(&text, config, OperationFilter::All);
    let expected = format!("GET {base}/long → 200\n\n{}\n[the rest is left out]", "€".repeat(33));
    assert_eq!(call(&quick, "long", json!({})).await, expected);
    assert_eq!(
        call(&quick, "bytes", json!({})).await,
        format!("GET {base}/bytes → 200\n\n[3 bytes that are not text]")
    );
    assert_eq!(call(&quick, "moved", json!({})).await, format!("GET {base}/moved → 302\n\n"));
    let config = OpenApiConfig { timeout: Duration::from_millis(1), ..OpenApiConfig::default() };
    let late = tools(&text, config, OperationFilter::All);
    assert_eq!(call(&late, "late", json!({})).await, "timedOut: no answer within 0 seconds");
    drop(seen);
}

#[tokio::test]
async fn every_request_proves_its_sender_and_no_key_is_shown() {
    let (base, seen) = server(|path| {
        let body = r#"{"access_token":"fetched","expires_in":3600}"#;
        (path == "/token")
            .then(|| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes())
    })
    .await;
    let secret = || "s3cret".to_owned().into();
    let auths = [
        OpenApiAuth::Bearer(secret()),
        OpenApiAuth::ApiKey { header: "x-key".into(), value: secret() },
        OpenApiAuth::QueryKey { name: "key".into(), value: secret() },
        OpenApiAuth::Basic { user: "me".into(), password: secret() },
        OpenApiAuth::ClientCredentials {
            token_url: format!("{base}/token"),
            client_id: "me".into(),
            client_secret: secret(),
            scope: Some("read".into()),
        },
    ];
    for auth in auths {
        assert!(!format!("{auth:?}").contains("s3cret"));
        let config = OpenApiConfig { auth, ..OpenApiConfig::default() };
        let tools = tools(&PETS.replace("BASE", &base), config, OperationFilter::All);
        for _ in 0..2 {
            let result = call(&tools, "getPet", json!({ "petId": "1" })).await;
            assert!(result.starts_with(&format!("GET {base}/v1/pets/1 → 200")), "{result}");
        }
    }
    let mut requests = seen.lock().unwrap().clone();
    requests.dedup();
    let lines: Vec<String> = requests.iter().map(|request| request.trim_end().replace('\n', " | ")).collect();
    expect![[r#"
        GET /v1/pets/1 HTTP/1.1 | authorization: Bearer s3cret
        GET /v1/pets/1 HTTP/1.1 | x-key: s3cret
        GET /v1/pets/1?key=s3cret HTTP/1.1
        GET /v1/pets/1 HTTP/1.1 | authorization: Basic bWU6czNjcmV0
        POST /token HTTP/1.1 | content-type: application/x-www-form-urlencoded | authorization: Basic bWU6czNjcmV0 | content-length: 40 |  | grant_type=client_credentials&scope=read
        GET /v1/pets/1 HTTP/1.1 | authorization: Bearer fetched"#]]
    .assert_eq(&lines.join("\n"));
}
