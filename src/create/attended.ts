/** Programs that type into a terminal themselves, by what they leave in the environment of what they start. */
const AGENTS = [
  "AI_AGENT",
  "ANTIGRAVITY_AGENT",
  "AUGMENT_AGENT",
  "CLAUDECODE",
  "CLAUDE_CODE",
  "CODEX_CI",
  "CODEX_SANDBOX",
  "CODEX_THREAD_ID",
  "COPILOT_AGENT",
  "COPILOT_CLI",
  "CURSOR_AGENT",
  "CURSOR_TRACE_ID",
  "GEMINI_CLI",
  "GOOSE_PROVIDER",
  "OPENCODE",
  "OPENCODE_CLIENT",
  "REPL_ID",
];

/** Services for continuous integration; nearly all of them set the first. */
const SERVICES = ["CI", "CONTINUOUS_INTEGRATION", "BUILD_NUMBER", "TEAMCITY_VERSION", "TF_BUILD"];

/** True when somebody sits at the terminal who can answer, as far as the environment tells. */
export function isAttended(env: Readonly<Record<string, string | undefined>>): boolean {
  const isSet = (name: string) => !["", "0", "false"].includes(env[name]?.toLowerCase() ?? "");
  // A dumb terminal cannot go back to a line, as every question does.
  return env["TERM"] !== "dumb" && ![...SERVICES, ...AGENTS].some(isSet);
}
