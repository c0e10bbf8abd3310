import { isMap, isScalar, parseDocument, visit } from "yaml";

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly environment?: string;
  readonly "timeout-minutes"?: number;
  readonly steps?: readonly Step[];
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

/** Returns a sentence for each of the project's rules that a workflow breaks. */
export function problemsOf(content: string): string[] {
  const workflow: {
    readonly on?: unknown;
    readonly permissions?: unknown;
    readonly jobs?: Readonly<Record<string, Job>>;
  } = parseDocument(content).toJS() ?? {};
  const jobs = Object.entries(workflow.jobs ?? {});
  return [
    ...actionsIn(content)
      .filter(
        ({ hash, version }) => !/^[\da-f]{40}$/.test(hash) || !/^v\d+\.\d+\.\d+$/.test(version),
      )
      .map(({ action }) => `${action} is not pinned by hash and version`),
    ...(isLittle(workflow.permissions) ? [] : ["the workflow has more rights than to read"]),
    ...(JSON.stringify(workflow.on).includes("pull_request_target")
      ? ["strangers run with the rights of the repository"]
      : []),
    ...jobs.flatMap(([name, job]) => habitsOf(name, job)),
  ];
}

const PUBLISHING = ["id-token", "pages"];
/** Rights of the job that opens the release pull request. It may run no code but the project's. */
const PROPOSING = { job: "release-pull-request", rights: ["contents", "pull-requests"] };

function habitsOf(name: string, job: Job): string[] {
  const steps = job.steps ?? [];
  const rights = Object.entries(job.permissions ?? {}).filter(([, right]) => right !== "read");
  const mayPublish = rights.some(([right]) => PUBLISHING.includes(right));
  const permitted = name === PROPOSING.job ? PROPOSING.rights : PUBLISHING;
  return [
    ...rights
      .filter(([right]) => !permitted.includes(right))
      .map(([right]) => `${name} may write ${right}`),
    ...(job.uses === undefined && job["timeout-minutes"] === undefined
      ? [`${name} has no time limit`]
      : []),
    ...(mayPublish && job.environment === undefined ? [`${name} publishes unasked`] : []),
    ...(mayPublish && steps.some(runsOthers) ? [`${name} runs others and may publish`] : []),
    ...(name === PROPOSING.job && steps.some(installs) ? [`${name} installs and may push`] : []),
    ...steps
      .filter(({ run = "" }) => run.includes("${{"))
      .map(() => `${name} has an expression in a script`),
  ];
}

/** Returns true if a step runs installed or checked-out code, which could steal the publishing token. */
function runsOthers(step: Step): boolean {
  return step.uses?.startsWith("actions/checkout@") === true || installs(step);
}

function installs({ run = "" }: Step): boolean {
  return /\bnpm (?:ci|install|run|exec)\b|\bnpx\b/.test(run);
}

function isLittle(permissions: unknown): boolean {
  if (typeof permissions !== "object" || permissions === null) return false;
  return Object.entries(permissions).every(
    ([name, right]) => name === "contents" && right === "read",
  );
}

export interface UsedAction {
  readonly action: string;
  readonly hash: string;
  /** Version from the comment at the end of the line. */
  readonly version: string;
}

/** Returns every use of an action from another repository. */
export function actionsIn(content: string): UsedAction[] {
  const found: UsedAction[] = [];
  visit(parseDocument(content), {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || key.value !== "uses" || !isScalar(value)) return;
      const [action = "", hash = ""] = String(value.value).split("@");
      if (action.startsWith("./")) return;
      found.push({ action, hash, version: value.comment?.trim() ?? "" });
    },
  });
  return found;
}

export function scriptOf(content: string, job: string, id: string): string {
  const steps = parseDocument(content).getIn(["jobs", job, "steps"]);
  if (typeof steps !== "object" || steps === null || !("items" in steps))
    throw new Error("no steps");
  const items = Array.isArray(steps.items) ? steps.items : [];
  const step = items.find((item) => isMap(item) && item.get("id") === id);
  const run = isMap(step) ? step.get("run") : undefined;
  if (typeof run !== "string") throw new Error(`${job} has no script ${id}`);
  return run;
}
