//! Dates: seconds since 1970 as years, months and days, and texts of these.
//!
//! In: seconds, or the parts of a date. Out: the parts, or seconds, or the text that `strftime` writes in the C locale. What the time zone
//! says comes from the system; where that does not tell, all time is universal time.

/// The parts of a date, as in C: months and days of the year count from 0, years from 1900, and Sunday is day 0 of the week.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Date {
    pub(crate) second: i32,
    pub(crate) minute: i32,
    pub(crate) hour: i32,
    pub(crate) day: i32,
    pub(crate) month: i32,
    pub(crate) year: i32,
    pub(crate) week_day: i32,
    pub(crate) year_day: i32,
    /// Whether it is summer time: negative if that is not known.
    pub(crate) is_summer: i32,
    /// How many seconds it is ahead of universal time.
    pub(crate) offset: i64,
    /// The name of the time zone.
    pub(crate) zone: String,
}

const WEEK_DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days from the first of March of the year 0 to that of 1970's era, in the calendar that all years have here.
const DAYS_TO_1970: i64 = 719468;

/// The day since 1970 of a date, whose month counts from 0 and may be any.
fn day_of(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March, so that the day that some have ends them.
    let months = year * 12 + month - 2;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let before = (153 * month + 2) / 5;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + before + day
        - 1
        - DAYS_TO_1970
}

/// Seconds since 1970 as a date in universal time. `None` if the year is too great.
pub(crate) fn universal(time: i64) -> Option<Date> {
    let (days, seconds) = (time.div_euclid(86400), time.rem_euclid(86400) as i32);
    // Eras of 400 years are all the same.
    let since = days + DAYS_TO_1970;
    let (era, day) = (since.div_euclid(146097), since.rem_euclid(146097));
    let year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let (month, day) = ((from_march + 2) % 12, day - (153 * from_march + 2) / 5 + 1);
    let year = era * 400 + year + i64::from(month < 2);
    Some(Date {
        second: seconds % 60,
        minute: seconds / 60 % 60,
        hour: seconds / 3600,
        day: day as i32,
        month: month as i32,
        year: i32::try_from(year - 1900).ok()?,
        week_day: (days + 4).rem_euclid(7) as i32,
        year_day: (days - day_of(year, 0, 1)) as i32,
        is_summer: 0,
        offset: 0,
        zone: "GMT".into(),
    })
}

/// The seconds of a date in universal time. Its parts may be any numbers.
#[cfg(any(not(unix), test))]
fn universal_time(date: &Date) -> i64 {
    let day = day_of(i64::from(date.year) + 1900, i64::from(date.month), i64::from(date.day));
    day * 86400 + i64::from(date.hour) * 3600 + i64::from(date.minute) * 60 + i64::from(date.second)
}

/// Seconds since 1970 as a date where the machine is.
#[cfg(unix)]
pub(crate) fn local(time: i64) -> Option<Date> {
    // SAFETY: a structure of numbers and a pointer may be zero.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both are there for the call.
    if unsafe { libc::localtime_r(&time, &mut parts) }.is_null() {
        return None;
    }
    let zone = match parts.tm_zone.is_null() {
        true => String::new(),
        // SAFETY: the system gives a text, which stays.
        false => unsafe { std::ffi::CStr::from_ptr(parts.tm_zone) }.to_string_lossy().into_owned(),
    };
    Some(Date {
        second: parts.tm_sec,
        minute: parts.tm_min,
        hour: parts.tm_hour,
        day: parts.tm_mday,
        month: parts.tm_mon,
        year: parts.tm_year,
        week_day: parts.tm_wday,
        year_day: parts.tm_yday,
        is_summer: parts.tm_isdst,
        offset: parts.tm_gmtoff,
        zone,
    })
}

#[cfg(not(unix))]
pub(crate) fn local(time: i64) -> Option<Date> {
    universal(time)
}

/// The seconds since 1970 of a date where the machine is, whose parts may be any numbers. `None` if there is no such time.
#[cfg(unix)]
pub(crate) fn local_time(date: &Date) -> Option<i64> {
    // SAFETY: a structure of numbers and a pointer may be zero.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    (parts.tm_sec, parts.tm_min, parts.tm_hour) = (date.second, date.minute, date.hour);
    (parts.tm_mday, parts.tm_mon, parts.tm_year) = (date.day, date.month, date.year);
    parts.tm_isdst = date.is_summer;
    // SAFETY: it is there for the call.
    let time = unsafe { libc::mktime(&mut parts) };
    (time != -1).then_some(time)
}

#[cfg(not(unix))]
pub(crate) fn local_time(date: &Date) -> Option<i64> {
    Some(universal_time(date)).filter(|time| *time != -1)
}

/// Appends what `strftime` writes for a letter behind `%`.
pub(crate) fn put(date: &Date, letter: u8, out: &mut Vec<u8>) {
    let year = i64::from(date.year) + 1900;
    let name = |names: &[&'static str], at: i32| {
        usize::try_from(at).ok().and_then(|at| names.get(at)).copied().unwrap_or("?")
    };
    let hour = (date.hour + 11) % 12 + 1;
    let half = if date.hour < 12 { "AM" } else { "PM" };
    let mut several = |letters: &str| {
        letters.bytes().for_each(|letter| match letter.is_ascii_alphabetic() {
            true => put(date, letter, out),
            false => out.push(letter),
        })
    };
    let text = match letter {
        b'c' => return several("a b e T Y"),
        b'D' | b'x' => return several("m/d/y"),
        b'F' => return several("Y-m-d"),
        b'R' => return several("H:M"),
        b'r' => return several("I:M:S p"),
        b'T' | b'X' => return several("H:M:S"),
        b'a' => name(&WEEK_DAYS, date.week_day)[..3].to_string(),
        b'A' => name(&WEEK_DAYS, date.week_day).to_string(),
        b'b' | b'h' => name(&MONTHS, date.month)[..3].to_string(),
        b'B' => name(&MONTHS, date.month).to_string(),
        b'C' => year.div_euclid(100).to_string(),
        b'd' => format!("{:02}", date.day),
        b'e' => format!("{:2}", date.day),
        b'g' => format!("{:02}", week_of_standard(date).0.rem_euclid(100)),
        b'G' => week_of_standard(date).0.to_string(),
        b'H' => format!("{:02}", date.hour),
        b'I' => format!("{hour:02}"),
        b'j' => format!("{:03}", date.year_day + 1),
        b'k' => format!("{:2}", date.hour),
        b'l' => format!("{hour:2}"),
        b'm' => format!("{:02}", date.month + 1),
        b'M' => format!("{:02}", date.minute),
        b'n' => "\n".into(),
        b'p' => half.into(),
        b'P' => half.to_ascii_lowercase(),
        // The C library takes any date for a local one here.
        b's' => local_time(date).unwrap_or(-1).to_string(),
        b'S' => format!("{:02}", date.second),
        b't' => "\t".into(),
        b'u' => ((date.week_day + 6) % 7 + 1).to_string(),
        b'U' => format!("{:02}", (date.year_day + 7 - date.week_day) / 7),
        b'V' => format!("{:02}", week_of_standard(date).1),
        b'w' => date.week_day.to_string(),
        b'W' => format!("{:02}", (date.year_day + 7 - (date.week_day + 6) % 7) / 7),
        b'y' => format!("{:02}", year.rem_euclid(100)),
        b'Y' => year.to_string(),
        b'z' => {
            let minutes = date.offset.abs() / 60;
            let sign = if date.offset < 0 { '-' } else { '+' };
            format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
        }
        b'Z' => date.zone.clone(),
        b'%' => "%".into(),
        other => return out.extend([b'%', other]),
    };
    out.extend_from_slice(text.as_bytes());
}

/// The year and the week of ISO 8601: weeks start on Monday, and the first has the year's first Thursday.
fn week_of_standard(date: &Date) -> (i64, i64) {
    let year = i64::from(date.year) + 1900;
    let thursday = i64::from(date.year_day) - i64::from((date.week_day + 6) % 7) + 3;
    let length = |year| day_of(year + 1, 0, 1) - day_of(year, 0, 1);
    match thursday {
        before if before < 0 => (year - 1, (before + length(year - 1)) / 7 + 1),
        behind if behind >= length(year) => (year + 1, 1),
        inside => (year, inside / 7 + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_seconds_lead_to_each_other() {
        let mut time = -99_999_999_999i64;
        while time < 99_999_999_999 {
            let date = universal(time).expect("a date");
            assert_eq!(universal_time(&date), time, "{date:?}");
            assert!(
                (0..12).contains(&date.month)
                    && (1..32).contains(&date.day)
                    && (0..366).contains(&date.year_day)
            );
            time += 86_399 * 97;
        }
        assert_eq!(universal(i64::MAX), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_system_has_the_same_dates() {
        for time in [0, -1, 951_782_400, 1_709_208_000, 4_107_542_400, -2_208_988_800, 253_402_300_799] {
            // SAFETY: a structure of numbers and a pointer may be zero, and both are there for the call.
            let parts = unsafe {
                let mut parts: libc::tm = std::mem::zeroed();
                assert!(!libc::gmtime_r(&time, &mut parts).is_null());
                parts
            };
            let date = universal(time).expect("a date");
            assert_eq!((date.year, date.month, date.day), (parts.tm_year, parts.tm_mon, parts.tm_mday));
            assert_eq!((date.hour, date.minute, date.second), (parts.tm_hour, parts.tm_min, parts.tm_sec));
            assert_eq!((date.week_day, date.year_day), (parts.tm_wday, parts.tm_yday));
            let local = local(time).expect("a date");
            assert_eq!(local_time(&local), (time != -1).then_some(time));
        }
    }

    #[test]
    fn texts_are_those_of_the_c_locale() {
        let date = universal(1_230_768_000 + 13 * 3600 + 62).expect("a date");
        let mut out = Vec::new();
        for letter in b"cxXpjUwWyYZ%aAbBdHImMSDeFhRrTVuGgCzklPQ" {
            put(&date, *letter, &mut out);
            out.push(b'|');
        }
        assert_eq!(
            String::from_utf8_lossy(&out),
            "Thu Jan  1 13:01:02 2009|01/01/09|13:01:02|PM|001|00|4|00|09|2009|GMT|%|Thu|Thursday|Jan|January|01|13|01|01|01|\
             02|01/01/09| 1|2009-01-01|Jan|13:01|01:01:02 PM|13:01:02|01|4|2009|09|20|+0000|13| 1|pm|%Q|"
        );
    }
}
