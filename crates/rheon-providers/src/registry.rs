//! `Registry`: resolves a model name to a provider.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rheon_text::did_you_mean;
use rheon_types::{Clock, ModelInfo, Provider, ProviderError};
use secrecy::SecretString;
use url::Url;

use crate::auth::{self, AuthInputs, Authorizer, AwsKeys};
use crate::catalog::{Catalog, Model};
use crate::compat::ToolStyle;
use crate::env::ProviderEnv;
use crate::fallback::FallbackProvider;
use crate::probe::{ProbeResult, Prober};
use crate::prompted::{LenientTools, PromptedTools};
use crate::service::{Endpoint, HttpProvider};
use crate::transport::{Transport, TransportConfig};
use crate::vendor::{AuthScheme, Vendor, VendorError, Vendors};

/// Resolves model names: vendors, their models, keys, and one shared HTTP client.
///
/// Cheap to clone. A vendor's provider is built once, so that all its users share connections, tokens and calibration.
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

struct Shared {
    environment: ProviderEnv,
    clock: Arc<dyn Clock>,
    transport: Transport,
    vendors: Vendors,
    keys: BTreeMap<String, Credential>,
    /// Known models, including what servers reported.
    catalog: Arc<RwLock<Catalog>>,
    services: Mutex<HashMap<String, Service>>,
}

/// A vendor that is ready to use.
#[derive(Clone)]
struct Service {
    vendor: Arc<Vendor>,
    authorizer: Arc<dyn Authorizer>,
    provider: Arc<HttpProvider>,
}

/// The parts of a registry.
pub struct RegistryParts {
    /// The user's environment variables.
    pub environment: ProviderEnv,
    /// The clock, for signatures and tokens.
    pub clock: Arc<dyn Clock>,
    /// The HTTP client.
    pub transport: Transport,
    /// The known services.
    pub vendors: Vendors,
    /// Their models.
    pub catalog: Catalog,
    /// Keys from the config, by vendor; they win over environment variables.
    pub keys: BTreeMap<String, Credential>,
}

impl RegistryParts {
    /// The built-in vendors and models, with the user's environment.
    pub fn builtin(environment: ProviderEnv, clock: Arc<dyn Clock>) -> Result<Self, ProviderError> {
        Ok(Self {
            environment,
            clock,
            transport: Transport::new(TransportConfig::default())?,
            vendors: Vendors::builtin(),
            catalog: Catalog::builtin(),
            keys: BTreeMap::new(),
        })
    }
}

/// A credential from the config.
#[derive(Debug, Clone)]
pub enum Credential {
    /// A key or a token.
    Key(SecretString),
    /// AWS keys, for signing.
    Aws(AwsKeys),
}

/// A model that is ready to use.
#[derive(Clone)]
pub struct ResolvedModel {
    /// The provider to call.
    pub provider: Arc<dyn Provider>,
    /// The model, as that provider names it.
    pub model: Arc<str>,
    /// The model's properties.
    pub info: Arc<ModelInfo>,
}

/// A model name that cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name has no vendor.
    #[error("{name:?} is not a model name: write vendor/model{}", instances(.candidates))]
    NoVendor {
        /// The name as given.
        name: String,
        /// Possible names.
        candidates: Vec<String>,
    },
    /// Unknown vendor.
    #[error("unknown vendor {vendor:?} in {name:?}; {did_you_mean}")]
    UnknownVendor {
        /// The name as given.
        name: String,
        /// The part before the slash.
        vendor: String,
        /// What to write instead.
        did_you_mean: String,
    },
    /// The vendor's base URL, variables or headers are invalid.
    #[error(transparent)]
    Vendor(#[from] VendorError),
    /// The vendor's auth scheme is invalid.
    #[error("{0}")]
    Auth(String),
}

fn instances(candidates: &[String]) -> String {
    if candidates.is_empty() { String::new() } else { format!(", for instance {}", candidates.join(" or ")) }
}

impl Registry {
    /// Creates a registry of these parts.
    pub fn new(parts: RegistryParts) -> Self {
        let RegistryParts { environment, clock, transport, vendors, catalog, keys } = parts;
        let catalog = Arc::new(RwLock::new(catalog));
        let services = Mutex::default();
        Self { shared: Arc::new(Shared { environment, clock, transport, vendors, keys, catalog, services }) }
    }

    /// All known vendors.
    pub fn vendors(&self) -> &Vendors {
        &self.shared.vendors
    }

    /// Resolves `name` (`vendor/model`). Contacts no server and runs no command: a missing key is an error of the
    /// first request.
    pub fn resolve(&self, name: &str) -> Result<ResolvedModel, RegistryError> {
        let (service, model) = self.find(name)?;
        let known = self.shared.model(&service.vendor, model);
        let http = Arc::clone(&service.provider) as Arc<dyn Provider>;
        let provider: Arc<dyn Provider> = match known.tool_style.unwrap_or(service.vendor.compat.tools) {
            ToolStyle::Native => http,
            ToolStyle::Lenient => Arc::new(LenientTools::new(http)),
            ToolStyle::Prompted => Arc::new(PromptedTools::new(http)),
        };
        Ok(ResolvedModel { provider, model: model.into(), info: Arc::clone(&known.info) })
    }

    /// Does the slow set-up that the first request would otherwise wait for, such as reading certificates. Contacts no
    /// server. Blocks, so call it from a thread that may wait. Errors are reported by the first request.
    pub fn prepare(&self, name: &str) {
        let Ok((service, _)) = self.find(name) else { return };
        if let Ok(base) = service.vendor.base_url(&self.shared.environment) {
            self.shared.transport.prepare(&base);
        }
    }

    /// Like [`Registry::resolve`]; if `name` is overloaded, `fallback` answers.
    pub fn resolve_with_fallback(&self, name: &str, fallback: &str) -> Result<ResolvedModel, RegistryError> {
        let (primary, fallback) = (self.resolve(name)?, self.resolve(fallback)?);
        let provider = FallbackProvider::new(primary.provider, fallback.provider, fallback.model);
        Ok(ResolvedModel { provider: Arc::new(provider), ..primary })
    }

    /// Whether a key for the vendor is configured or not needed. Runs no command and contacts no server.
    pub fn has_key(&self, vendor: &str) -> Result<bool, RegistryError> {
        Ok(self.service(vendor, vendor)?.authorizer.has_key())
    }

    /// Requests the model's context window from a local server, and remembers it. `None` if the vendor's servers do
    /// not support it or do not report a size.
    pub async fn probe(&self, name: &str) -> Result<Option<u64>, ProbeError> {
        let (service, model) = self.find(name)?;
        let Some(kind) = service.vendor.probe() else { return Ok(None) };
        let prober = self.prober(&service)?;
        let result = prober.context_tokens(kind, model).await?;
        if let Some(tokens) = result {
            let mut catalog = self.shared.catalog.write().unwrap_or_else(PoisonError::into_inner);
            *catalog = std::mem::take(&mut *catalog).with_context(&service.vendor.id, model, tokens);
        }
        Ok(result)
    }

    /// The models that a local server offers, in its order.
    pub async fn served_models(&self, vendor: &str) -> Result<Vec<String>, ProbeError> {
        let service = self.service(vendor, vendor)?;
        Ok(self.prober(&service)?.models().await?)
    }

    /// Checks the connection and the key of a vendor without calling a model.
    pub async fn check_connection(&self, vendor: &str) -> Result<ProbeResult, ProbeError> {
        let service = self.service(vendor, vendor)?;
        let prober = self.prober(&service)?;
        let vendor = &service.vendor;
        let check_url = vendor.check_url(&self.shared.environment_of(vendor)).map_err(RegistryError::from)?;
        let Some(check_url) = check_url else { return Ok(prober.ping().await?) };
        let url = Url::parse(&check_url).map_err(|error| RegistryError::Auth(error.to_string()))?;
        let result = prober.check_connection(url, vendor.wire).await?;
        let is_open = vendor.paths.check.as_deref() == Some("");
        Ok(if is_open { ProbeResult::Reachable } else { result })
    }

    fn prober<'a>(&'a self, service: &'a Service) -> Result<Prober<'a>, RegistryError> {
        let Shared { transport, clock, .. } = &*self.shared;
        let environment = &self.shared.environment_of(&service.vendor);
        Ok(Prober {
            transport,
            authorizer: &*service.authorizer,
            base: service.vendor.base_url(environment)?,
            headers: service.vendor.headers(environment)?,
            now: clock.now(),
        })
    }

    fn find<'a>(&self, name: &'a str) -> Result<(Service, &'a str), RegistryError> {
        match name.split_once('/') {
            Some((vendor, model)) if !model.is_empty() => Ok((self.service(vendor, name)?, model)),
            Some(_) | None => {
                const CANDIDATES_MAX: usize = 3;
                let mut candidates = self.candidates(name);
                candidates.truncate(CANDIDATES_MAX);
                Err(RegistryError::NoVendor { name: name.to_owned(), candidates })
            }
        }
    }

    /// Full names for a model name without a vendor: one per vendor that lists the model.
    pub fn candidates(&self, model: &str) -> Vec<String> {
        let catalog = self.shared.catalog.read().unwrap_or_else(PoisonError::into_inner);
        let has = |vendor: &&str| catalog.ids(vendor).any(|id| id == model);
        let vendors = self.shared.vendors.ids().filter(has);
        vendors.map(|vendor| format!("{vendor}/{model}")).collect()
    }

    /// The vendor `id`; `name` is used in errors.
    fn service(&self, id: &str, name: &str) -> Result<Service, RegistryError> {
        let mut services = self.shared.services.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(service) = services.get(id) {
            return Ok(service.clone());
        }
        let Some(vendor) = self.shared.vendors.get(id) else {
            let known: Vec<&str> = self.shared.vendors.ids().collect();
            let (name, vendor, did_you_mean) = (name.to_owned(), id.to_owned(), did_you_mean(id, &known));
            return Err(RegistryError::UnknownVendor { name, vendor, did_you_mean });
        };
        let service = self.shared.build(vendor)?;
        services.insert(id.to_owned(), service.clone());
        Ok(service)
    }
}

/// A server that cannot be probed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// The name cannot be resolved.
    #[error(transparent)]
    Name(#[from] RegistryError),
    /// The server failed, or its response is invalid.
    #[error(transparent)]
    Server(#[from] ProviderError),
}

impl Shared {
    fn model(&self, vendor: &Vendor, id: &str) -> Arc<Model> {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        vendor.model(&catalog, id)
    }

    fn build(&self, vendor: Arc<Vendor>) -> Result<Service, RegistryError> {
        let environment = self.environment_of(&vendor);
        let (key, aws_keys) = match self.keys.get(&vendor.id).cloned() {
            Some(Credential::Key(key)) => (Some(key), None),
            Some(Credential::Aws(keys)) => (None, Some(keys)),
            None => (None, None),
        };
        let inputs = AuthInputs {
            vendor: &vendor.id,
            environment: &environment,
            key,
            aws_keys,
            clock: Arc::clone(&self.clock),
            transport: self.transport.clone(),
        };
        let authorizer =
            auth::authorizer(&vendor.auth, inputs).map_err(|error| RegistryError::Auth(error.to_string()))?;
        let endpoint = Endpoint {
            id: vendor.id.clone(),
            wire: vendor.wire,
            compat: vendor.compat.clone(),
            url: vendor.url(&environment)?,
            headers: vendor.headers(&environment)?,
            count_url: vendor.count_url(&environment)?,
            first_byte_timeout: vendor.first_byte_timeout(),
        };
        let (catalog, owner) = (Arc::clone(&self.catalog), Arc::clone(&vendor));
        let models = move |id: &str| {
            let catalog = catalog.read().unwrap_or_else(PoisonError::into_inner);
            owner.model(&catalog, id)
        };
        let (transport, clock) = (self.transport.clone(), Arc::clone(&self.clock));
        let provider =
            HttpProvider::new(endpoint, Arc::clone(&authorizer), transport, Arc::new(models), clock);
        Ok(Service { vendor, authorizer, provider: Arc::new(provider) })
    }

    /// The environment; for AWS with the region of the user's profile, which is part of URLs.
    fn environment_of(&self, vendor: &Vendor) -> ProviderEnv {
        match vendor.auth.scheme {
            AuthScheme::Aws { .. } => {
                self.environment.with_default("AWS_REGION", auth::aws_region(&self.environment))
            }
            AuthScheme::Header { .. }
            | AuthScheme::Bearer
            | AuthScheme::Query { .. }
            | AuthScheme::Google
            | AuthScheme::Anthropic
            | AuthScheme::None => self.environment.clone(),
        }
    }
}
