//! `Registry`: the name of a model becomes a provider to ask.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rheon_text::did_you_mean;
use rheon_types::{Clock, ModelInfo, Provider, ProviderError};
use secrecy::SecretString;
use url::Url;

use crate::auth::{self, AuthInputs, Authorizer, AwsKeys};
use crate::catalogue::{Catalogue, Model};
use crate::compat::ToolStyle;
use crate::env::Environment;
use crate::fallback::FallbackProvider;
use crate::probe::{CalledUp, Prober};
use crate::prompted::{LenientTools, PromptedTools};
use crate::service::{Endpoint, HttpProvider};
use crate::transport::{Transport, TransportConfig};
use crate::vendor::{AuthScheme, Vendor, VendorError, Vendors};

/// Where models are found: vendors, what is known of their models, keys, and one HTTP client for all of them.
///
/// Cheap to clone. A vendor's provider is built once, so that all who ask it share connections, tokens and calibration.
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

struct Shared {
    environment: Environment,
    clock: Arc<dyn Clock>,
    transport: Transport,
    vendors: Vendors,
    keys: BTreeMap<String, Credential>,
    /// What is known of models, and what servers have said of theirs.
    catalogue: Arc<RwLock<Catalogue>>,
    services: Mutex<HashMap<String, Service>>,
}

/// A vendor that can be asked.
#[derive(Clone)]
struct Service {
    vendor: Arc<Vendor>,
    authorizer: Arc<dyn Authorizer>,
    provider: Arc<HttpProvider>,
}

/// What a registry is made of.
pub struct RegistryParts {
    /// The user's variables.
    pub environment: Environment,
    /// The time, for signatures and tokens.
    pub clock: Arc<dyn Clock>,
    /// The HTTP client.
    pub transport: Transport,
    /// The services.
    pub vendors: Vendors,
    /// What is known of their models.
    pub catalogue: Catalogue,
    /// Keys from the configuration, by vendor; they go before those of the environment.
    pub keys: BTreeMap<String, Credential>,
}

impl RegistryParts {
    /// What comes with Rheon, with the user's variables.
    pub fn builtin(environment: Environment, clock: Arc<dyn Clock>) -> Result<Self, ProviderError> {
        Ok(Self {
            environment,
            clock,
            transport: Transport::new(TransportConfig::default())?,
            vendors: Vendors::builtin(),
            catalogue: Catalogue::builtin(),
            keys: BTreeMap::new(),
        })
    }
}

/// What proves who asks, from the configuration.
#[derive(Debug, Clone)]
pub enum Credential {
    /// A key or a token.
    Key(SecretString),
    /// Keys of AWS, to sign with.
    Aws(AwsKeys),
}

/// A model, ready to be asked.
#[derive(Clone)]
pub struct ResolvedModel {
    /// Whom to ask.
    pub provider: Arc<dyn Provider>,
    /// The model, as that provider names it.
    pub model: Arc<str>,
    /// What is known of it.
    pub info: Arc<ModelInfo>,
}

/// A name that stands for no model that can be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The name does not say which model of which vendor it is.
    #[error("{name:?} names no model of a vendor: write vendor/model{}", instances(.candidates))]
    NoVendor {
        /// The name.
        name: String,
        /// What it may mean.
        candidates: Vec<String>,
    },
    /// There is no such vendor.
    #[error("there is no vendor {vendor:?}, as in {name:?}; {did_you_mean}")]
    UnknownVendor {
        /// The name.
        name: String,
        /// Its part before the slash.
        vendor: String,
        /// What to write instead.
        did_you_mean: String,
    },
    /// The vendor's address, variables or headers are not in order.
    #[error(transparent)]
    Vendor(#[from] VendorError),
    /// How the vendor wants to know who asks cannot be followed.
    #[error("{0}")]
    Auth(String),
}

fn instances(candidates: &[String]) -> String {
    if candidates.is_empty() { String::new() } else { format!(", for instance {}", candidates.join(" or ")) }
}

impl Registry {
    /// A registry of `parts`.
    pub fn new(parts: RegistryParts) -> Self {
        let RegistryParts { environment, clock, transport, vendors, catalogue, keys } = parts;
        let catalogue = Arc::new(RwLock::new(catalogue));
        let services = Mutex::default();
        Self {
            shared: Arc::new(Shared { environment, clock, transport, vendors, keys, catalogue, services }),
        }
    }

    /// The vendors it knows.
    pub fn vendors(&self) -> &Vendors {
        &self.shared.vendors
    }

    /// The model that `name` (`vendor/model`) stands for. Asks nobody, and runs no command: a missing key is an error of
    /// the first request.
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

    /// Does beforehand what the first request to the model would wait for besides its server: certificates are read. Asks nobody. It
    /// blocks, so call it where a thread may wait; what goes wrong is told by the first request.
    pub fn prepare(&self, name: &str) {
        let Ok((service, _)) = self.find(name) else { return };
        if let Ok(base) = service.vendor.base_url(&self.shared.environment) {
            self.shared.transport.prepare(&base);
        }
    }

    /// The same; where `name` is overloaded, `other` answers.
    pub fn resolve_with_fallback(&self, name: &str, other: &str) -> Result<ResolvedModel, RegistryError> {
        let (wanted, other) = (self.resolve(name)?, self.resolve(other)?);
        let provider = FallbackProvider::new(wanted.provider, other.provider, other.model);
        Ok(ResolvedModel { provider: Arc::new(provider), ..wanted })
    }

    /// Whether a key for the vendor is configured, or none is needed. Runs no command and asks no server.
    pub fn has_key(&self, vendor: &str) -> Result<bool, RegistryError> {
        Ok(self.service(vendor, vendor)?.authorizer.has_key())
    }

    /// Asks a server of the user's own for the size of the model's context, and remembers it. Absent where the vendor's
    /// servers cannot be asked, or do not say.
    pub async fn probe(&self, name: &str) -> Result<Option<u64>, ProbeError> {
        let (service, model) = self.find(name)?;
        let Some(kind) = service.vendor.probe() else { return Ok(None) };
        let prober = self.prober(&service)?;
        let found = prober.context_tokens(kind, model).await?;
        if let Some(tokens) = found {
            let mut catalogue = self.shared.catalogue.write().unwrap_or_else(PoisonError::into_inner);
            *catalogue = std::mem::take(&mut *catalogue).with_context(&service.vendor.id, model, tokens);
        }
        Ok(found)
    }

    /// The models that a server of the user's own has, in its order.
    pub async fn served_models(&self, vendor: &str) -> Result<Vec<String>, ProbeError> {
        let service = self.service(vendor, vendor)?;
        Ok(self.prober(&service)?.models().await?)
    }

    /// Calls up the vendor's service with its key, without asking a model anything.
    pub async fn call_up(&self, vendor: &str) -> Result<CalledUp, ProbeError> {
        let service = self.service(vendor, vendor)?;
        let prober = self.prober(&service)?;
        let vendor = &service.vendor;
        let place = vendor.check_url(&self.shared.environment_of(vendor)).map_err(RegistryError::from)?;
        let Some(place) = place else { return Ok(prober.knock().await?) };
        let url = Url::parse(&place).map_err(|error| RegistryError::Auth(error.to_string()))?;
        let found = prober.call_up(url, vendor.wire).await?;
        let is_open = vendor.paths.check.as_deref() == Some("");
        Ok(if is_open { CalledUp::Answered } else { found })
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

    /// Names with a vendor for a name without one: all vendors that are known to have the model.
    pub fn candidates(&self, model: &str) -> Vec<String> {
        let catalogue = self.shared.catalogue.read().unwrap_or_else(PoisonError::into_inner);
        let has = |vendor: &&str| catalogue.ids(vendor).any(|id| id == model);
        let vendors = self.shared.vendors.ids().filter(has);
        vendors.map(|vendor| format!("{vendor}/{model}")).collect()
    }

    /// The vendor `id`, which stands in `name`.
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

/// A server that could not be asked for the size of its context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// The name stands for no model.
    #[error(transparent)]
    Name(#[from] RegistryError),
    /// The server did not answer as it should.
    #[error(transparent)]
    Server(#[from] ProviderError),
}

impl Shared {
    fn model(&self, vendor: &Vendor, id: &str) -> Arc<Model> {
        let catalogue = self.catalogue.read().unwrap_or_else(PoisonError::into_inner);
        vendor.model(&catalogue, id)
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
        let (catalogue, owner) = (Arc::clone(&self.catalogue), Arc::clone(&vendor));
        let models = move |id: &str| {
            let catalogue = catalogue.read().unwrap_or_else(PoisonError::into_inner);
            owner.model(&catalogue, id)
        };
        let (transport, clock) = (self.transport.clone(), Arc::clone(&self.clock));
        let provider =
            HttpProvider::new(endpoint, Arc::clone(&authorizer), transport, Arc::new(models), clock);
        Ok(Service { vendor, authorizer, provider: Arc::new(provider) })
    }

    /// The variables, and for AWS the region of the user's profile, which stands in addresses too.
    fn environment_of(&self, vendor: &Vendor) -> Environment {
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
