//! The guards that are held.
use super::*;

/// The guards of a subtree, and where they were taken; the place with the oldest guard is first.
#[derive(Clone, Debug)]
pub struct GuardReport {
    guards: usize,
    entries: Vec<GuardReportEntry>,
}

/// The guards that were taken at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardReportEntry {
    pub file: String,
    pub line: u32,
    pub count: usize,
    pub oldest_age: Duration,
}

impl GuardReport {
    pub(crate) fn new(node: &Arc<Node>) -> io::Result<Self> {
        let mut raw = null_mut();
        checked(unsafe { sys::swansong_report(node.0, &mut raw) })?;
        let entry = |site: &sys::swansong_report_site| GuardReportEntry {
            file: unsafe { CStr::from_ptr(site.file) }.to_string_lossy().into_owned(),
            line: site.line,
            count: site.guards as usize,
            oldest_age: Duration::from_micros(site.oldest),
        };
        let report = unsafe { &*raw };
        let sites: &[_] = match report.n {
            0 => &[],
            n => unsafe { std::slice::from_raw_parts(report.sites, n) },
        };
        let result =
            Self { guards: report.guards as usize, entries: sites.iter().map(entry).collect() };
        unsafe { sys::swansong_report_free(raw) };
        Ok(result)
    }

    /// All guards, also those that were taken before the report was switched on.
    pub fn guard_count(&self) -> usize {
        self.guards
    }

    pub fn is_empty(&self) -> bool {
        self.guards == 0
    }

    pub fn entries(&self) -> &[GuardReportEntry] {
        &self.entries
    }
}

/// One line for each place.
impl fmt::Display for GuardReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.guards == 0 {
            return f.write_str("no outstanding guards");
        }
        write!(f, "{} outstanding guard{}:", self.guards, if self.guards == 1 { "" } else { "s" })?;
        for entry in &self.entries {
            write!(f, "\n{entry}")?;
        }
        Ok(())
    }
}

impl fmt::Display for GuardReportEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}:{} (oldest {:.1?})", self.count, self.file, self.line, self.oldest_age)
    }
}
