//! Enums that are stored by name.

/// Declares an enum that is stored by name.
macro_rules! stored_names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            pub(in crate::sqlite) fn from_stored(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl crate::sqlite::rusqlite::types::ToSql for $name {
            fn to_sql(&self) -> Result<crate::sqlite::rusqlite::types::ToSqlOutput<'_>, crate::sqlite::rusqlite::Error> {
                Ok(self.as_str().into())
            }
        }

        impl crate::sqlite::rusqlite::types::FromSql for $name {
            fn column_result(value: crate::sqlite::rusqlite::types::ValueRef<'_>) -> crate::sqlite::rusqlite::types::FromSqlResult<Self> {
                Self::from_stored(value.as_str()?).ok_or(crate::sqlite::rusqlite::types::FromSqlError::InvalidType)
            }
        }
    };
}
pub(in crate::sqlite) use stored_names;
