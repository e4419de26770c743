//! Redirects: where a response redirects a request, if that is allowed. Pure.

use http::{HeaderMap, StatusCode, header};
use rheon_types::{ProviderError, ProviderErrorKind};
use url::Url;

/// The redirect target for a request to `from`, or `None` if the response is not a redirect.
///
/// The request is repeated unchanged, even for 301 and 302, which browsers turn into a `GET`: no model answers that.
pub(super) fn target(
    from: &Url,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Url>, ProviderError> {
    let location = headers.get(header::LOCATION).filter(|_| is_redirect(status));
    let Some(location) = location else { return Ok(None) };
    let target = location.to_str().ok().and_then(|location| from.join(location).ok());
    let Some(target) = target else {
        return Err(refused(format!("{} redirects to an invalid URL", origin(from))));
    };
    if target.origin() == from.origin() && target.origin().is_tuple() {
        return Ok(Some(target));
    }
    let (here, there) = (origin(from), origin(&target));
    Err(refused(format!(
        "{here} redirects to another origin, {there}; credentials were not sent there. \
         If that is correct, set it as the base URL"
    )))
}

/// The error for too many redirects.
pub(super) fn too_many(at: &Url, redirects_max: usize) -> ProviderError {
    refused(format!("{} redirects more than {redirects_max} times; check the base URL", origin(at)))
}

/// Scheme, host and port: the parts of a URL that may be shown.
pub(super) fn origin(url: &Url) -> String {
    match url.origin() {
        tuple @ url::Origin::Tuple(..) => tuple.ascii_serialization(),
        url::Origin::Opaque(_) => format!("{}:", url.scheme()),
    }
}

/// `303 See Other` is an error: it answers a request instead of forwarding it.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 307 | 308)
}

fn refused(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Api, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(location: &str) -> Result<Option<String>, String> {
        let from = Url::parse("https://api.example.com/v1/messages?key=hidden").unwrap();
        let headers = HeaderMap::from_iter([(header::LOCATION, location.parse().unwrap())]);
        target(&from, StatusCode::TEMPORARY_REDIRECT, &headers)
            .map(|target| target.map(String::from))
            .map_err(|error| error.message)
    }

    #[test]
    fn redirect_within_the_origin_is_followed() {
        let followed =
            ["/v2/messages", "https://api.example.com:443/v2/messages", "//api.example.com/v2/messages"];
        for location in followed {
            assert_eq!(ask(location), Ok(Some("https://api.example.com/v2/messages".into())), "{location}");
        }
    }

    #[test]
    fn redirect_to_another_origin_names_it() {
        let others = [
            ("http://api.example.com/v1", "http://api.example.com"),
            ("https://evil.example/?q", "https://evil.example"),
            ("https://api.example.com:8443/", "https://api.example.com:8443"),
            ("https://api.example.com@evil.example/", "https://evil.example"),
            ("data:text/plain,x", "data:"),
        ];
        for (location, named) in others {
            let error = ask(location).unwrap_err();
            assert_eq!(
                error,
                format!(
                    "https://api.example.com redirects to another origin, {named}; credentials were not sent \
                     there. If that is correct, set it as the base URL"
                )
            );
        }
        assert_eq!(ask("https://[bad/"), Err("https://api.example.com redirects to an invalid URL".into()));
    }
}
