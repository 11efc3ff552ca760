// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of the store. Measurements are only ever appended; `best` is
// derived from them. A change here needs a new kSchemaVersion.

#ifndef ATTUNE_LIB_TUNING_SCHEMA_H
#define ATTUNE_LIB_TUNING_SCHEMA_H

namespace attune::tuning {

/// "ATTU": tells our files from other SQLite databases.
constexpr int kApplicationId = 0x41545455;
constexpr int kSchemaVersion = 9;

constexpr char kSchema[] = R"sql(
CREATE TABLE problem(
  key TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  checksum INTEGER NOT NULL);

CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  problem TEXT NOT NULL REFERENCES problem(key),
  chip TEXT NOT NULL,
  device TEXT NOT NULL,
  compiler TEXT NOT NULL,
  chip_state TEXT NOT NULL,
  name TEXT NOT NULL,
  command TEXT NOT NULL,
  strategy TEXT NOT NULL,
  seed INTEGER NOT NULL,
  legal INTEGER NOT NULL,
  refused TEXT NOT NULL,
  started TEXT NOT NULL,
  state TEXT NOT NULL,
  results INTEGER NOT NULL,
  checksum INTEGER NOT NULL);

CREATE TABLE measurement(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(id),
  ordinal INTEGER NOT NULL,
  problem TEXT NOT NULL,
  chip TEXT NOT NULL,
  device TEXT NOT NULL,
  compiler TEXT NOT NULL,
  chip_state TEXT NOT NULL,
  schedule TEXT NOT NULL,
  stage TEXT NOT NULL,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  samples_ns TEXT NOT NULL,
  median_ns REAL,
  low_ns REAL,
  high_ns REAL,
  registers INTEGER,
  spill_bytes INTEGER,
  shared_bytes INTEGER,
  threads INTEGER,
  serialized_multiplies INTEGER,
  loop_flops_per_clock INTEGER,
  loop_terms TEXT,
  score REAL,
  binary TEXT NOT NULL,
  copied_from INTEGER NOT NULL,
  clock_mhz INTEGER,
  power_w INTEGER,
  temperature_c INTEGER,
  throttle_reasons TEXT,
  settled INTEGER,
  other_processes INTEGER,
  energy_j REAL,
  mean_power_w REAL,
  energy_span_s REAL,
  pj_per_flop REAL,
  baseline_ns REAL,
  origin TEXT,
  created TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE(session, ordinal));

CREATE INDEX measurement_by_schedule ON measurement(problem, chip, device, compiler, chip_state, schedule);
CREATE INDEX measurement_by_binary ON measurement(problem, chip, device, chip_state, binary);
CREATE INDEX measurement_by_proof ON measurement(problem, chip, device, compiler, chip_state, median_ns)
  WHERE stage = 'proof' AND status = 'ok';

CREATE VIEW latest AS
  SELECT * FROM measurement WHERE id IN
    (SELECT max(id) FROM measurement GROUP BY problem, chip, device, compiler, chip_state, schedule);

CREATE VIEW best AS
  SELECT problem, chip, device, compiler, chip_state, schedule, min(median_ns) AS median_ns, low_ns, high_ns,
    clock_mhz, mean_power_w, pj_per_flop, throttle_reasons, binary, created
  FROM latest WHERE status = 'ok' AND median_ns IS NOT NULL
  GROUP BY problem, chip, device, compiler, chip_state;
)sql";

} // namespace attune::tuning

#endif // ATTUNE_LIB_TUNING_SCHEMA_H
