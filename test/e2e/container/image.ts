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
import { type Instruction, parseDockerfile, variablesIn } from "./instructions.ts";

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** A folder that acts as the image's root, and how to run the image. */
export interface Image {
  readonly workdir: string;
  readonly workdirName: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly port: string;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  /** Images without digests. */
  readonly bases: readonly string[];
}

export interface BuildOptions {
  readonly context: string;
  readonly folder: string;
  /** The image's user `node`, or `undefined` if this process cannot change the owner of a file. */
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
 * Emulates `docker build` without Docker. Each stage is a folder, in which this machine's shell executes RUN commands.
 * These must therefore use relative paths. An unknown instruction is an error.
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
    if (this.#stage === undefined) throw new Error("a Dockerfile must begin with FROM");
    return this.#stage;
  }

  #do(instruction: Instruction): void {
    const { keyword, text } = instruction;
    if (keyword === "FROM") this.#from(text);
    else if (keyword === "COPY") this.#copy(instruction);
    else if (keyword === "RUN") this.#shell(text);
    else if (keyword === "WORKDIR") this.#enter(text);
    else if (keyword === "ENV") this.#set(instruction);
    else if (keyword === "USER") this.#current.user = text;
    else if (keyword === "EXPOSE") this.#current.port = text;
    else if (keyword === "CMD") this.#current.command = JSON.parse(text);
    else if (keyword === "HEALTHCHECK") {
      this.#current.healthcheck = JSON.parse(text.replace(/^CMD /, ""));
    } else throw new Error(`this test does not support ${keyword}`);
  }

  #enter(path: string): void {
    const stage = this.#current;
    stage.workdir = posix.resolve(stage.workdir, path);
    mkdirSync(join(stage.root, stage.workdir), { recursive: true });
  }

  #set(instruction: Instruction): void {
    for (const [name, value] of Object.entries(variablesIn(instruction))) {
      this.#current.env[name] = name === "NODE_OPTIONS" ? knownOptions(value) : value;
    }
  }

  #from(text: string): void {
    const [reference = "", name = String(this.#stages.size)] = text.split(" AS ");
    const [image = ""] = reference.split("@", 1);
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
    // Docker allows a pattern that matches no file. A plain name must match, and at least one source must match.
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

  /** Creates replacements for the commands that need the user `node`, which does not exist on this machine. */
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

/** The image's Node may be newer than the Node running this test, and support options that this Node lacks. */
function knownOptions(options: string): string {
  const known = process.allowedNodeEnvironmentFlags;
  return options
    .split(" ")
    .filter((option) => known.has(option))
    .join(" ");
}

/** Returns a Node binary that other users can run. This process's own binary may be in a private folder. */
export function nodeFor(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  copyFileSync(process.execPath, join(bin, "node"));
  chmodSync(join(bin, "node"), 0o755);
  return bin;
}
