/** MCP revisions that both the suite and the server support. */
export const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;

/** Scenarios that every server with tools must pass. */
export const fitting = [
  "caching",
  "dns-rebinding-protection",
  "http-header-validation",
  "input-required-result-unsupported-methods",
  "ping",
  "server-initialize",
  "server-stateless",
  "tools-list",
] as const;

const itsTools = "calls a tool of the suite's own server";
const noPrompts = "is about prompts, and the server has none";
const noResources = "is about resources, and the server has none";

/** Checks within these scenarios that do not apply to this server, with the reason. */
export const notFittingChecks: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  caching: {
    "sep-2549-prompts-list-caching-hints": noPrompts,
    "sep-2549-resources-list-caching-hints": noResources,
    "sep-2549-resources-templates-list-caching-hints": noResources,
    "sep-2549-resources-read-caching-hints": noResources,
  },
  "server-stateless": {
    "sep-2575-server-rejects-undeclared-capability": itsTools,
    "sep-2575-missing-capability-http-400": itsTools,
    "sep-2575-http-server-no-independent-requests-on-stream": itsTools,
    "sep-2575-server-no-log-without-loglevel": itsTools,
    "sep-2575-server-sends-prompts-list-changed-on-subscription": noPrompts,
    "sep-2575-server-sends-tools-list-changed-on-subscription": itsTools,
  },
};

/** Scenarios that do not apply to this server, by reason. */
const reasons: Readonly<Record<string, readonly string[]>> = {
  [itsTools]: [
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-list-roots",
    "input-required-result-basic-sampling",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "input-required-result-missing-input-response",
    "input-required-result-multi-round",
    "input-required-result-multiple-input-requests",
    "input-required-result-request-state",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-validate-input",
    "json-schema-2020-12",
    "tools-call-audio",
    "tools-call-elicitation",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-sampling",
    "tools-call-simple-text",
    "tools-call-with-logging",
    "tools-call-with-progress",
  ],
  [noPrompts]: [
    "input-required-result-non-tool-request",
    "prompts-get-embedded-resource",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-with-image",
    "prompts-list",
  ],
  [noResources]: [
    "resources-list",
    "resources-read-binary",
    "resources-read-text",
    "resources-subscribe",
    "resources-templates-read",
    "resources-unsubscribe",
    "sep-2164-resource-not-found",
  ],
  "is about sessions, and the server has none": [
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "server-sse-polling",
  ],
  "completes arguments, which the server does not offer": ["completion-complete"],
  "sets the level of log messages, of which the server sends none": ["logging-set-level"],
  "needs a tool that takes arguments from headers of HTTP": [
    "http-custom-header-server-validation",
  ],
  "is about skills, an extension that the server does not offer": [
    "sep-2640-skills-directory",
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
  ],
  "is about tasks, an extension that the server does not offer": [
    "tasks-capability-negotiation",
    "tasks-dispatch-and-envelope",
    "tasks-lifecycle",
    "tasks-mrtr-composition",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-request-state-removal",
    "tasks-required-task-error",
    "tasks-status-notifications",
    "tasks-wire-fields",
  ],
};

export const notFitting: readonly string[] = Object.values(reasons).flat();
