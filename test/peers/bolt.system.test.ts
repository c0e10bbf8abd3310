import { installTools } from "../../tools/install.ts";
import { BoltAuthor } from "./bolt.ts";
import { testColumn } from "./column.ts";

const modules = await installTools();

testColumn("Bolt", () => BoltAuthor.create(modules));
