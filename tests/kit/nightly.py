"""Tests that `make nightly` runs alone: each takes many seconds, and a cheaper one of `make test` proves a part of it.

A name stands for a test function with all its cases, or for one case in brackets.
"""

from __future__ import annotations

NIGHTLY = frozenset(
    (
        # Files: those of JSON, CSV and Parquet stay; how each is damaged, and events as rows with their types.
        "test_rows_are_those_that_were_written_and_a_file_that_is_none_goes_aside_whole[orc]",
        "test_rows_are_those_that_were_written_and_a_file_that_is_none_goes_aside_whole[avro]",
        "test_rows_are_those_that_were_written_and_a_file_that_is_none_goes_aside_whole[csv]",
        "test_csv_without_names_is_read_in_the_order_of_the_columns_and_by_the_formats_that_are_declared",
        "test_a_damaged_page_is_found_by_reading_and_a_file_that_is_gone_is_no_damage",
        "test_events_in_files_are_merged_and_counted_and_a_file_that_is_none_goes_aside[parquet]",
        # Garbled files of each table: one of the source stays, and tests/unit/sources/test_garbled_files.py.
        "test_each_kind_of_file_that_is_garbled_is_named",
        # Rows that move: the ways of the matrix of increments and of tests/hbase move them, too.
        "test_the_newest_row_of_each_key_stands_once_wherever_it_came_from",
        "test_a_row_that_moves_after_the_table_got_a_column",
        "test_record_index_moves_a_key_to_its_new_partition",
        "test_a_row_that_moved_is_gone_where_it_was_and_there_where_it_is",
        # Verdicts: two minutes of drawn pipelines over real tables stay (test_verdict_drawn.py), and thousands in a model.
        "test_exact_pipelines_equal_their_recompute_after_every_run",
        "test_a_thousand_histories_of_exact_pipelines",
        "test_the_example_of_an_inexact_pipeline_makes_a_difference",
        "test_thousands_of_histories_of_exact_pipelines",
        # Backups that are loaded first: one of Parquet whose load dies stays; each other form, and an index that is made.
        "test_what_a_backup_of_files_may_be",
        "test_a_row_of_a_backup_that_is_none_goes_aside_and_is_counted",
        "test_a_backup_that_is_a_table_of_hudi",
        "test_a_table_that_spark_has_no_reader_of_is_refused_in_words",
        "test_a_record_index_is_made_by_the_load_or_afterwards",
        # Changelogs: intervals on frames, a run and one that dies stay; tables of events have frames, too.
        "test_the_history_in_a_table_of_hudi",
        "test_versions_that_are_read_again_or_anew_are_the_same",
        "test_events_of_avro_become_a_table_of_events_and_that_the_history_of_rows",
        "test_each_event_stands_once_and_a_table_of_them_is_a_source",
        "test_a_table_of_events_gets_a_successor_that_goes_on_where_it_stood",
        "test_a_run_that_dies_around_its_commit_leaves_each_event_in_one_place",
        "test_a_process_over_a_changelog_that_is_killed_as_it_writes",
        # Seven runs: what is counted, test_event_times.py has on frames, and that a commit keeps it, test_changelog_runs.py.
        "test_a_run_says_how_late_its_rows_are_and_a_reader_which_windows_it_lacks",
        # A story of a table with two owners: the rounds of partial updates and of joins stay.
        "test_merge_of_two_owners",
        # Keys' types: those of a first load stay.
        "test_a_row_that_was_inserted_or_replayed_is_found",
        "test_a_row_is_found_after_a_migration",
        # Rows of owners: the table of COPY_ON_WRITE stays, and test_merge_columns.
        "test_columns_that_a_pipeline_owns[mor]",
        # Whole runs of what is scaffolded: tests/unit/cli/test_patterns.py has their files, and their cases need no table.
        "test_a_pattern_from_init_to_a_changed_table",
        # HBase: the run whose updates go where the index says stays.
        "test_a_key_that_moves_and_comes_back_is_one_row",
        "test_a_delete_takes_the_entry_and_the_key_may_come_back",
        # Rules that test_gate.py has on frames.
        "test_how_new_the_rows_are_and_what_they_refer_to",
        "test_a_backfill_publishes_no_chunk_that_breaks_a_rule",
        "test_what_is_seen_by_whom",
        "test_unique_referential_fresh_and_many",
        # What a service leaves for its readers: the plan's tests; what it holds for a compaction: test_pending_compaction.
        "test_a_reader_that_is_behind_holds_cleaning_and_not_compaction",
        # The stories of the drivers, of the flights and of the demo; that of the rides stays, and the main job's.
        "test_a_run_after_every_landing_equals_a_full_recompute",
        "test_a_late_tip_reaches_its_trip_and_its_pay_slip",
        "test_an_idle_tick_starts_no_jvm_and_commits_nothing",
        "test_a_killed_run_and_its_repeat_equal_a_full_recompute",
        "test_several_rounds_equal_a_recompute_of_the_raw_tables",
        "test_a_late_tip_and_a_correction_write_their_own_driver_days",
        "test_every_example_has_cases_and_they_hold",
        "test_insert_overwrite_of_affected_partitions",
        "test_partial_update_of_what_a_row_names",
        # Backfills: of upsert and insert_overwrite, a kill and a schedule stay; owned columns: test_columns_that_...
        "test_a_replaced_partition_that_the_incremental_writer_changed_is_done_again",
        "test_a_backfill_computes_the_owned_columns_again_and_no_other",
        "test_an_incremental_writer_and_a_backfill_on_the_same_partitions",
        "test_start_and_end_reach_the_sql_and_an_input_is_cut_too",
        "test_the_checkpoint_is_found_behind_many_chunks_and_in_the_archive",
        "test_any_schedule[record index]",
        "test_a_row_that_a_backfill_wrote_is_found",
        "test_a_source_and_an_input_with_a_commit_that_has_not_completed",
        # A process that stays, over real tables and with real kills: tests/unit/serve has all of it with stand-ins.
        "test_ten_pipelines_lose_nothing_whatever_is_killed",
        "test_services_and_a_backfill_are_done_between_runs",
        # Changelogs: runs over one type of table stay; adapters and the merge have tests on frames.
        "test_events_that_are_read_once_more_change_nothing",
        "test_a_table_whose_partition_is_of_the_key_is_read_where_events_are",
        "test_messages_of_debezium_in_a_table_in_any_order_and_a_load_anew",
        "test_what_does_not_conform_fails_a_run_or_goes_to_the_quarantine_with_its_bytes",
        "test_a_source_that_was_emptied_or_holds_no_events_ends_the_run",
        "test_a_preview_shows_what_the_merge_would_change",
        "test_a_column_that_the_ddl_gets_later_is_there_for_the_changes_that_follow",
        "test_changes_of_a_database_are_merged_by_where_they_stand_in_its_log",
        # Hudi's own cleaner beside a compaction: what freshet leaves for one, test_pending_compaction and plans have.
        "test_hudis_cleaner_deletes_a_log_that_a_compaction_is_planned_for",
        "test_freshet_cleans_only_after_the_compaction",
        "test_freshet_takes_back_no_commit_of_a_writer_that_lives",
        # Real kills: five stay. Of the JVM that outlives its Python that of a run before its commit.
        "test_the_jvm_of_a_killed_run_is_waited_for",
        "test_a_process_killed_between_the_two_commits",
        # What such a one leaves in the moment in which Hudi makes a table: tests/unit/hudi and run have the files.
        "test_what_is_left_of_tables_that_never_began_is_removed_and_they_are_made",
        "test_stdout_holds_the_result_alone",
        # Full refreshes: of a MERGE_ON_READ table with a record index one stays. Migrations: the load stays.
        "test_a_run_killed_before_its_commit_is_repeated_right[full refresh]",
        "test_what_a_recompute_lacks_goes_and_later_runs_find_their_rows[cow]",
        "test_what_a_recompute_lacks_goes_and_later_runs_find_their_rows[mor, optimistic]",
        "test_what_a_recompute_lacks_goes_and_later_runs_find_their_rows[cow, record index]",
        "test_of_nothing_comes_an_empty_table_and_readers_delete_what_went",
        "test_checks_come_before_it_and_the_quarantine_holds_what_the_recompute_drops",
        "test_a_compaction_that_was_planned_before_brings_nothing_back",
        "test_rows_that_a_first_insert_refuses_are_refused",
        "test_rows_that_the_source_has_no_more_are_copied",
        # A run in a terminal stays, and the rest is in tests/unit/cli/test_live.py without Spark.
        "test_the_keyboard_ends_a_command_cleanly",
        "test_every_long_command_in_every_kind_of_terminal",
        "test_a_first_hour_as_a_person_sees_it",
        "test_a_replay_and_a_service_in_a_terminal",
        # The tutorials, in one Spark: tests/unit has their commands, links and YAML.
        "test_a_tutorial_from_top_to_bottom",
        # What stands in a source's timeline: one of each kind stays.
        "test_table_services_neither_hide_nor_repeat_rows[clustering]",
        "test_a_checkpoint_within_the_history_is_no_gap",
        "test_the_last_row_of_a_file_deleted_by_an_upsert",
        "test_a_checkpoint_is_found_in_the_archive",
        # Names of partitions: test_increment_truth and test_partition_values have them.
        "test_of_partitions_of_any_name",
        "test_a_clustering_that_was_left_unfinished_is_finished_or_given_up",
        # Inputs that another test of test_reads.py joins in another order; an expired one: tests/unit/plan/test_inputs.py.
        "test_beyond_the_tables_history_a_look_back_reads_all_and_what_drives_has_expired",
        "test_sums_per_driver_and_day_follow_every_change",
        "test_a_source_that_is_read_whole_is_joined_with_all",
        # Increments: cases of the matrix.
        "test_rows_that_were_deleted_meanwhile[kind2-set]",
        "test_rows_that_were_deleted_meanwhile[kind1-reset]",
        "test_commits_that_were_read_and_taken_back_are_refused[kind3-savepoint]",
        "test_one_that_fails_leaves_the_others_whole",
        "test_rows_that_move",
        # Names: those that no table can hold stay.
        "test_names_that_are_taken_hold_their_values",
        # Landing: COPY_ON_WRITE and the refusals stay.
        "test_every_way_in_which_a_row_is_refused",
        "test_any_files_in_any_order",
        "test_objects_that_do_not_fit",
        "test_seeds_are_all_that_their_tables_hold",
        "test_from_a_wheel_to_a_changed_pipeline",
        # A dropped row's older row, and what a run would write: one whole run of each stays, and what they mean on frames.
        "test_a_dropped_row_deletes_what_is_older_and_a_replay_brings_it_back[RECORD_INDEX-cow]",
        "test_a_dropped_row_deletes_what_is_older_and_a_replay_brings_it_back[RECORD_INDEX-mor]",
        "test_a_batch_of_bad_rows_alone",
        "test_what_stays_published_is_counted_on_every_way_that_updates",
        "test_the_run_does_what_the_preview_told",
        "test_of_a_strategy_and_of_a_backfill",
        "test_what_is_shown_and_how_it_ends",
        # Audits: the story of damage that is found and mended stays, and tests/unit/audit has plans, words and bounds.
        "test_every_damage_on_every_table",
        "test_pieces_of_several_rows_are_counted_by_themselves",
        "test_what_an_upsert_would_leave",
        "test_a_sample_is_drawn_alike_of_all_its_tables_as_of_their_positions",
        "test_rows_that_checks_keep_out_wait_in_the_quarantine",
        "test_beside_the_live_writer",
        "test_deletes_and_marks_and_rows_of_a_time",
        "test_a_row_that_hudi_deleted_from_a_log",
        "test_a_repair_goes_through_the_checks",
        "test_a_table_without_partitions",
        # What a newer Hudi may be able to do; what is refused meanwhile stays, and of services that compact that of timestamps.
        "test_what_is_refused_does_fail",
        "test_a_service_compacts_times_of_another_calendar[DATE]",
        # First loads: a key of two columns and a table without partitions stay; of all types in one key the record index.
        "test_a_first_load_and_what_comes_after_it[cow-as it is]",
        "test_a_first_load_and_what_comes_after_it[mor-as it is]",
        "test_a_row_that_a_first_load_wrote_is_found[all-cow-BUCKET]",
        # Of cases that differ in one value, those whose value another case or a unit test has.
        "test_a_partition_value_comes_the_same_from_the_first_load_and_from_an_increment[2026/01 05%]",
        "test_a_partition_value_comes_the_same_from_the_first_load_and_from_an_increment[New York]",
        "test_a_path_that_is_computed_is_not_the_value[kind3-false-yyyy-MM-dd]",
        "test_a_table_of_hoodiestreamer_goes_on_here_and_back[v1]",
        "test_what_is_taken_comes_back[hive-mor]",
        "test_what_is_taken_comes_back[encoded-cow]",
        "test_commits_that_were_read_and_taken_back_are_refused[kind0-one of two]",
        "test_commits_that_were_read_and_taken_back_are_refused[kind2-two]",
        "test_a_path_that_is_computed_is_not_the_value[kind1-true-yyyy-MM-dd]",
        "test_a_path_that_is_computed_is_not_the_value[kind2-true-yyyy/MM/dd]",
        "test_what_became_of_a_row_and_not_what_was_written[kind2-OverwriteNonDefaultsWithLatestAvroPayload]",
        "test_what_became_of_a_row_and_not_what_was_written[kind3-PartialUpdateAvroPayload]",
        "test_rows_that_their_logs_hold_whole[COMMIT_TIME_ORDERING]",
        "test_the_newer_row_wins_and_a_delete_deletes[DECIMAL(38,10)-cow]",
        "test_the_newer_row_wins_and_a_delete_deletes[DATE-mor]",
        "test_a_run_that_is_stopped_while_it_writes[15-command-143-INTERRUPTED]",
        "test_each_key_is_found_in_whichever_block_it_stands",
        "test_a_target_follows_its_source[plain_cow_cdc]",
        "test_a_target_follows_its_source[streamer_cow]",
        # Changelogs: the merge of histories with deletes stays, and what PostgreSQL's Debezium wrote.
        "test_the_merge_over_a_table_of_hudi",
        "test_the_merge_is_what_its_model_says_whatever_the_order_and_the_cuts[row]",
        "test_the_table_is_what_the_database_held[mariadb-BinlogPosition]",
        "test_the_table_is_what_the_database_held[mariadb-MariaDbGtid0]",
        "test_the_table_is_what_the_database_held[mariadb-MariaDbGtid1]",
        # Time-outs of a whole run: tests/unit/run/test_watchdog.py. A killed backfill: the schedules kill in this process.
        "test_a_run_that_takes_longer_than_it_may_is_ended_and_the_next_one_goes_on",
        "test_a_killed_backfill_is_resumed_by_the_same_command",
        "test_an_event_time_is_a_timestamp_a_date_or_text",
        # What happens to a source between two reads: tests/unit/plan/test_taken_back.py and test_drivers.py.
        "test_a_commit_between_others_that_was_taken_back_is_refused",
        "test_a_row_that_is_written_again_while_it_is_read_comes_once",
        # Avro: that of several schemas stays, and tests/unit/registry/test_branches.py.
        "test_avro_by_the_schema_of_a_file_has_no_id_in_front",
        "test_digits_beyond_those_of_a_decimals_schema_are_not_cut",
        "test_values_within_lists_maps_and_structs_are_held_to_their_columns",
        "test_every_kind_of_value_is_what_its_producer_wrote",
        "test_garbled_bytes_are_no_rows_and_do_no_harm",
        "test_strict_avro_has_no_field_that_is_no_column",
        "test_json_behind_the_id_of_a_schema",
        "test_a_reader_parts_records_of_avro_that_can_be_decoded_from_the_rest",
        "test_a_window_of_avro_without_records_has_the_columns",
        "test_a_session_without_avros_jar_is_said",
        # Keys of Avro and headers: a key of a tombstone, and a header of a value stay.
        "test_a_key_that_is_no_record_is_the_one_field",
        "test_json_and_keys_whose_schemas_headers_name",
    )
)
