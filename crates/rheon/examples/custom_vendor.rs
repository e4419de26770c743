//! A model server that Rheon does not know, in four lines of TOML. The same lines in `config.toml` work for the program.
//!
//! `cargo run -p rheon --example custom_vendor -- http://127.0.0.1:8000 my-model`

use rheon::prelude::*;

#[tokio::main]
async fn main() -> rheon::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(model)) = (arguments.next(), arguments.next()) else {
        return Err(Error::other("usage: custom_vendor <address> <model>"));
    };
    let vendor = format!(
        r#"
        [vendors.house]
        extends = "vllm"
        base_url = "{address}"
        "#
    );
    let session = Session::builder(".").settings(vendor).model(format!("house/{model}")).open().await?;
    println!("{}", session.run("Say hello.").await?);
    Ok(())
}
