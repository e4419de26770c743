//! `ImageKind`: the format and size of an image, from its first bytes.

const SIDE_PIXELS_MAX: u32 = 16_384;

/// The most pixels of an image, which bounds what a small file unpacks to.
const PIXELS_MAX: u64 = 100_000_000;

/// An image format that models can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImageKind {
    Png,
    Jpeg,
    Gif,
    Webp,
}

impl ImageKind {
    /// Detects the format by its signature; file names are not trusted.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if head.starts_with(b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
            Some(Self::Gif)
        } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
            Some(Self::Webp)
        } else {
            None
        }
    }

    pub(super) fn mime_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// Width and height, or why the image cannot be shown.
    pub(super) fn size(self, bytes: &[u8]) -> Result<(u32, u32), String> {
        let size = match self {
            Self::Png => png(bytes),
            Self::Jpeg => jpeg(bytes),
            Self::Gif => gif(bytes),
            Self::Webp => webp(bytes),
        };
        match size {
            None | Some((0, _) | (_, 0)) => Err("invalid image header".into()),
            Some((width, height))
                if width.max(height) > SIDE_PIXELS_MAX
                    || u64::from(width) * u64::from(height) > PIXELS_MAX =>
            {
                let limit = format!("{SIDE_PIXELS_MAX} per side, {PIXELS_MAX} in total");
                Err(format!("{width} x {height} pixels exceed the limit ({limit}); resize it first"))
            }
            Some(size) => Ok(size),
        }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

fn big_16(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u16::from_be_bytes).map(u32::from)
}

fn little_16(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u16::from_le_bytes).map(u32::from)
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.get(12..16)? != b"IHDR" {
        return None;
    }
    Some((u32::from_be_bytes(array(bytes, 16)?), u32::from_be_bytes(array(bytes, 20)?)))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    Some((little_16(bytes, 6)?, little_16(bytes, 8)?))
}

/// The size is in the first frame header, after segments of any length.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [start, marker] = array(bytes, at)?;
        if start != 0xff {
            return None;
        }
        match marker {
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            0xc4 | 0xc8 | 0xcc => at = skip_segment(bytes, at)?,
            0xc0..=0xcf => return Some((big_16(bytes, at + 7)?, big_16(bytes, at + 5)?)),
            0xd9 | 0xda => return None,
            _ => at = skip_segment(bytes, at)?,
        }
    }
}

fn skip_segment(bytes: &[u8], at: usize) -> Option<usize> {
    Some(at + 2 + usize::try_from(big_16(bytes, at + 2)?).ok()?)
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match &array::<4>(bytes, 12)? {
        b"VP8 " => Some((little_16(bytes, 26)? & 0x3fff, little_16(bytes, 28)? & 0x3fff)),
        b"VP8L" => {
            let bits = u32::from_le_bytes(array(bytes, 21)?);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => {
            let side = |at| {
                let [low, middle, high] = array(bytes, at)?;
                Some(u32::from_le_bytes([low, middle, high, 0]) + 1)
            };
            Some((side(24)?, side(27)?))
        }
        _ => None,
    }
}
