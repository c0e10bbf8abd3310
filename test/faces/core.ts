export { backoff } from "../../src/core/backoff.ts";
export { BodyBudget, type BodyBuffer, BodyError } from "../../src/core/body.ts";
export {
  type Clock,
  every,
  sleep,
  steadyClock,
  systemClock,
  type TimerOptions,
} from "../../src/core/clock.ts";
export { aboutEvent, duringEvent } from "../../src/core/current-event.ts";
export { readDatabase, secretsOf } from "../../src/core/database-address.ts";
export { DOCTOR_AGENT } from "../../src/core/doctor-agent.ts";
export type { HandlerOptions, LoopGuardOptions } from "../../src/core/handler-options.ts";
export {
  type ImageKind,
  imageKindOf,
  KIND_PREFIX_BYTES,
  mediaTypeOf,
} from "../../src/core/image-kind.ts";
export { parseJson } from "../../src/core/json.ts";
export type { Jsonify } from "../../src/core/jsonify.ts";
export { bind, type Listening, listen } from "../../src/core/listen.ts";
export { createLogger, type Logger, type LogLevel, logLevels } from "../../src/core/logger.ts";
export { migrate } from "../../src/core/migrate.ts";
export { misspeltVariables } from "../../src/core/misspelt-variables.ts";
export { editsBetween, nearestName } from "../../src/core/names.ts";
export { OLDEST_NODE, requireNode } from "../../src/core/node-version.ts";
export {
  makePrivateFile,
  makePrivateFolderOf,
  tightenDatabase,
} from "../../src/core/private-file.ts";
export { type ProcessLike, ProcessOwners, untilEnded } from "../../src/core/process.ts";
export { isPublicAddress, isPublicHost } from "../../src/core/public-host.ts";
export { scrubber, showError } from "../../src/core/redact.ts";
export { MAX_REPORTED_RUNS, RUNS_PATH } from "../../src/core/run-report.ts";
export { allScopes, type Scope } from "../../src/core/scope.ts";
export { printable, printableStyled, printableText } from "../../src/core/terminal.ts";
export { newTrace, readTraceparent, spanIn, traceIdOf, traceOf } from "../../src/core/trace.ts";
export { version } from "../../src/core/version.ts";
export { toNodeListener, type WebHandler } from "../../src/core/web-adapter.ts";
