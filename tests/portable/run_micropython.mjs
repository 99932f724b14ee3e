// Runs one portable script on real MicroPython (WebAssembly) and prints what it prints.
//
//   node run_micropython.mjs PROJECT_ROOT MODULE
//
// Mounts hal's asyncio shim, the portable core, the protocol's numbers, the portable codec, the scripts,
// and the codec's test vectors as data, nothing else: a core module that reaches for anything more
// fails here. Exits 1 with the traceback on an exception.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript";

const HEAP_BYTES = 4 * 1024 * 1024;

// The top level itself is no task that an exception could be thrown into, so the script gets a task
// of its own, and what it raised is raised again here.
const GLUE = `
import MODULE
from hal import aio

failures = []

async def guarded():
    try:
        await MODULE.main()
    except Exception as error:
        failures.append(error)

await aio.run(guarded())
if failures:
    raise failures[0]
`;

function mount(fileSystem, source, target, isWanted) {
  fileSystem.mkdirTree(target);
  for (const name of readdirSync(source)) {
    if (/\.(py|hex|json)$/.test(name) && isWanted(name)) {
      fileSystem.writeFile(`${target}/${name}`, readFileSync(join(source, name)));
    }
  }
}

async function main() {
  const [root, module] = process.argv.slice(2);
  if (!root || !/^[a-z_]+$/.test(module ?? "")) {
    throw new Error("usage: node run_micropython.mjs PROJECT_ROOT MODULE");
  }
  const scripts = join(dirname(fileURLToPath(import.meta.url)), "scripts");
  const micropython = await loadMicroPython({
    heapsize: HEAP_BYTES,
    linebuffer: true,
    stdout: (line) => process.stdout.write(`${line}\n`),
    stderr: (line) => process.stderr.write(`${line}\n`),
  });
  const fileSystem = micropython.FS;
  const isShim = (name) => ["__init__.py", "aio.py", "_aio_micropython.py"].includes(name);
  const isNumbers = (name) => ["__init__.py", "numbers.py", "sensor_id.py"].includes(name);
  const isCodec = (name) => ["__init__.py", "portable_codec.py"].includes(name);
  const isPackage = (name) => name === "__init__.py";
  mount(fileSystem, join(root, "hal"), "/app/hal", isShim);
  mount(fileSystem, join(root, "controller"), "/app/controller", isPackage);
  for (const room of ["core", "core/felt", "core/round"]) {
    mount(fileSystem, join(root, "controller", room), `/app/controller/${room}`, () => true);
  }
  mount(fileSystem, join(root, "protocol"), "/app/protocol", isNumbers);
  mount(fileSystem, join(root, "protocol/wire"), "/app/protocol/wire", isCodec);
  mount(fileSystem, scripts, "/app", () => true);
  // Where a script in /app finds them by the same relative path as in the source tree.
  mount(fileSystem, join(root, "tests/fuzz"), "/fuzz", (name) => name === "appendix_a.json");
  for (const version of readdirSync(join(root, "tests/golden"))) {
    if (version.startsWith("v")) {
      mount(fileSystem, join(root, "tests/golden", version), `/golden/${version}`, () => true);
    }
  }
  micropython.runPython("import sys\nsys.path[:] = ['/app', '.frozen']");
  await micropython.runPythonAsync(GLUE.replaceAll("MODULE", module));
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
