import { installTools } from "../../tools/install.ts";
import { testColumn } from "./column.ts";
import { GrammyAuthor } from "./grammy.ts";

const modules = await installTools();

testColumn("grammY", () => GrammyAuthor.create(modules));
