-- Drops the tables of the open month, which would take memory until the next month replaces them. The files of the month's
-- task hold what other tasks need.
drop table check_summaries;
drop table newest_checks;
drop table repeated_keys;
drop table repeated_checks;
drop table first_checks;
drop table days_with_lists;
drop table checks_with_lists;
drop table chosen_checks;
drop table repeated_listings;
drop table newest_listing_days;
drop table if exists newest_in_month_listings;
drop table if exists newest_in_month_filtered_checks;
