export { addressProblem } from "../../src/core/addresses.ts";
export { BodyBudget, type BodyBuffer, BodyError } from "../../src/core/body-budget.ts";
export { readUpTo } from "../../src/core/bounded-read.ts";
export {
  certificateFaultIn,
  presentedCertificate,
} from "../../src/core/certificate.ts";
export { type Linked, LinkedSet, TransientMap } from "../../src/core/churn.ts";
export {
  backoff,
  type Clock,
  every,
  sleep,
  steadyClock,
  systemClock,
  type TimerOptions,
} from "../../src/core/clock.ts";
export { cpuTimeMs } from "../../src/core/cpu-time.ts";
export { CronPattern } from "../../src/core/cron.ts";
export { readDatabase, secretsOf } from "../../src/core/database-address.ts";
export {
  makePrivateFile,
  makePrivateFolderOf,
  migrate,
  tightenDatabase,
} from "../../src/core/database-files.ts";
export { fill, fillLine } from "../../src/core/fill.ts";
export type { HandlerOptions } from "../../src/core/handler-options.ts";
export {
  type ImageKind,
  imageKindOf,
  KIND_PREFIX_BYTES,
  mediaTypeOf,
} from "../../src/core/image-kind.ts";
export type { Jsonify } from "../../src/core/json.ts";
export { parseJson, textsIn } from "../../src/core/json.ts";
export { isTooComplex, maxEventsIn } from "../../src/core/json-bounds.ts";
export { LineLimit } from "../../src/core/line-limit.ts";
export { bind, type Listening, listen } from "../../src/core/listen.ts";
export { deferred, LineWriter } from "../../src/core/log-lines.ts";
export { createLogger, type Logger, type LogLevel, logLevels } from "../../src/core/logger.ts";
export {
  authorCode,
  type Block,
  duringWait,
  LoopWatch,
  WatchedRun,
} from "../../src/core/loop-watch.ts";
export { pageUrl, version } from "../../src/core/manifest.ts";
export { editsBetween, misspeltVariables, nearestName } from "../../src/core/names.ts";
export {
  allScopes,
  DOCTOR_AGENT,
  MAX_REPORTED_RUNS,
  RUNS_PATH,
  type Scope,
} from "../../src/core/platform-contract.ts";
export {
  OLDEST_NODE,
  type ProcessLike,
  ProcessOwners,
  requireNode,
  untilEnded,
} from "../../src/core/process.ts";
export { isPublicAddress, isPublicHost, literalIn } from "../../src/core/public-host.ts";
export { readTarget } from "../../src/core/request-target.ts";
export {
  printable,
  printableStyled,
  printableText,
  scrubber,
  showError,
} from "../../src/core/safe-text.ts";
export { environmentSecrets, secretScrubber } from "../../src/core/secret-scrubber.ts";
export {
  anything,
  arrayOf,
  boolean,
  changed,
  lenient,
  nullable,
  number,
  object,
  oneOf,
  openObject,
  optional,
  readShape,
  type Shape,
  string,
} from "../../src/core/shapes.ts";
export { readSmallFile } from "../../src/core/small-file.ts";
export { readSpan, readWhen, type Span, type When } from "../../src/core/span.ts";
export { isSchema, type StandardSchemaV1, validate } from "../../src/core/standard-schema.ts";
export { normalizeText, trimEndOf } from "../../src/core/text.ts";
export {
  aboutEvent,
  duringEvent,
  newTrace,
  readTraceparent,
  spanIn,
  traceIdOf,
  traceOf,
} from "../../src/core/trace.ts";
export { type Confidential, UncaughtErrors } from "../../src/core/uncaught.ts";
export { toNodeListener, type WebHandler } from "../../src/core/web-adapter.ts";
