import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { withoutBotVariables } from "../../support/scaffolded.ts";
import { BuildContext, copyInto } from "./context.ts";
import { type Instruction, parseDockerfile } from "./instructions.ts";

/** Somebody who may read what is for everyone. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** What a Dockerfile makes: a folder that stands for the root of the image, and how it is run. */
export interface Image {
  /** The working directory, in the folder. */
  readonly workdir: string;
  /** The same, as the image calls it. */
  readonly workdirName: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly port: string;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  /** The base images of all stages. */
  readonly bases: readonly string[];
}

export interface BuildOptions {
  /** The folder with the Dockerfile. */
  readonly context: string;
  /** Where the stages go. */
  readonly folder: string;
  /** Who `node` is; undefined where files cannot be given away. */
  readonly node: User | undefined;
}

interface Stage {
  readonly root: string;
  workdir: string;
  readonly env: Record<string, string>;
  user: string;
  port: string;
  command: readonly string[];
  healthcheck: readonly string[];
}

/**
 * Does what `docker build` would do, without Docker: a stage is a folder, and RUN is run in it by the shell of this
 * machine. Commands must therefore keep to relative paths. An instruction that is not known is refused, not passed over.
 */
export class Build {
  readonly #options: BuildOptions;
  readonly #context: BuildContext;
  readonly #stages = new Map<string, Stage>();
  readonly #bases: string[] = [];
  #stage: Stage | undefined;

  constructor(options: BuildOptions) {
    this.#options = options;
    this.#context = new BuildContext(options.context);
  }

  run(): Image {
    const text = readFileSync(join(this.#options.context, "Dockerfile"), "utf8");
    for (const one of parseDockerfile(text)) this.#do(one);
    const { root, workdir, ...rest } = this.#current;
    return { ...rest, workdirName: workdir, workdir: join(root, workdir), bases: this.#bases };
  }

  get #current(): Stage {
    if (this.#stage === undefined) throw new Error("a Dockerfile begins with FROM");
    return this.#stage;
  }

  #do(instruction: Instruction): void {
    const { keyword, text } = instruction;
    if (keyword === "FROM") this.#from(text);
    else if (keyword === "COPY") this.#copy(instruction);
    else if (keyword === "RUN") this.#shell(text);
    else if (keyword === "WORKDIR") this.#enter(text);
    else if (keyword === "ENV") this.#set(text);
    else if (keyword === "USER") this.#current.user = text;
    else if (keyword === "EXPOSE") this.#current.port = text;
    else if (keyword === "CMD") this.#current.command = JSON.parse(text);
    else if (keyword === "HEALTHCHECK") {
      this.#current.healthcheck = JSON.parse(text.replace(/^CMD /, ""));
    } else throw new Error(`this test does not know ${keyword}`);
  }

  #enter(path: string): void {
    const stage = this.#current;
    stage.workdir = posix.resolve(stage.workdir, path);
    mkdirSync(join(stage.root, stage.workdir), { recursive: true });
  }

  #set(variables: string): void {
    for (const variable of variables.split(" ")) {
      const [name = "", ...value] = variable.split("=");
      // The image has a newer Node than some that this test runs on.
      if (name === "NODE_OPTIONS" && !isKnown(value[0])) continue;
      this.#current.env[name] = value.join("=");
    }
  }

  #from(text: string): void {
    const [image = "", name = String(this.#stages.size)] = text.split(" AS ");
    this.#bases.push(image);
    const root = join(this.#options.folder, name);
    mkdirSync(root, { recursive: true });
    if (image.startsWith("node:")) {
      mkdirSync(join(root, "usr/local/bin"), { recursive: true });
      symlinkSync(process.execPath, join(root, "usr/local/bin/node"));
    }
    const fresh = { env: {}, user: "root", port: "", command: [], healthcheck: [] };
    this.#stage = { root, workdir: "/", ...fresh };
    this.#stages.set(name, this.#stage);
  }

  #copy({ text, flags }: Instruction): void {
    const { root, workdir } = this.#current;
    const places = text.split(/ +/);
    const target = places.pop() ?? "";
    const origin = this.#stages.get(flags["from"] ?? "");
    const found = places.map((place) =>
      origin === undefined ? this.#context.find(place) : [join(origin.root, place)],
    );
    // Docker lets a pattern find nothing, not a name, and not all of them together.
    const missing = places.find((place, n) => !place.includes("*") && found[n]?.length === 0);
    if (missing !== undefined) throw new Error(`COPY finds no ${missing}`);
    const to = join(root, posix.resolve(workdir, target));
    const isFolder = target.endsWith("/");
    if (isFolder) mkdirSync(to, { recursive: true });
    copyInto(found.flat(), to, isFolder);
  }

  #shell(command: string): void {
    const { root, workdir, env } = this.#current;
    const path = [this.#standIns(), dirname(process.execPath), process.env.PATH].join(":");
    execFileSync("sh", ["-euc", command], {
      cwd: join(root, workdir),
      env: { ...withoutBotVariables(), ...env, PATH: path },
      stdio: "pipe",
    });
  }

  /** This machine has no user `node`. */
  #standIns(): string {
    const bin = join(this.#options.folder, "stand-ins");
    mkdirSync(bin, { recursive: true });
    const { node } = this.#options;
    const give = node === undefined ? "" : `exec /bin/chown ${node.uid}:${node.gid} "$2"`;
    const scripts = {
      chown: `#!/bin/sh\n[ "$1" = node:root ] || exit 1\n${give}\n`,
      useradd: "#!/bin/sh\n",
    };
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(join(bin, name), script);
      chmodSync(join(bin, name), 0o755);
    }
    return bin;
  }
}

function isKnown(flag = ""): boolean {
  return process.allowedNodeEnvironmentFlags.has(flag);
}

/** A Node that other users can run: the one of this process may be where only its owner gets. */
export function nodeFor(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  copyFileSync(process.execPath, join(bin, "node"));
  chmodSync(join(bin, "node"), 0o755);
  return bin;
}
