#!/usr/bin/env bun
// A render worker is this same program. It loads only what a worker needs, so that it starts quickly.
if (process.argv[2] === "render-worker") {
  const { runWorker } = await import("./render/worker.ts");
  runWorker();
} else if (process.argv[2] === "rewrite-database") {
  // A service has its large database rewritten by another process, and goes on answering.
  const { REWRITE_BUSY, rewriteDatabase } = await import("./store/engine/sqlite.ts");
  process.exitCode = rewriteDatabase(process.argv[3] ?? "") ? 0 : REWRITE_BUSY;
} else if (process.argv[2] === "read-list") {
  // What strangers upload is parsed by another process, which may use little and knows nothing.
  const { runListReader } = await import("./app/batches/list-worker.ts");
  await runListReader();
} else if (process.argv[2] === "convert-cmyk") {
  // Inks of a press are worked out by another process: each picture keeps a processor busy.
  const { runCmykWorker } = await import("./app/print/cmyk-worker.ts");
  runCmykWorker();
} else if (process.argv[2] === "embedded-files") {
  // Embedded files by size: the build verifies that all of them are present.
  console.log(
    JSON.stringify(Object.fromEntries(Bun.embeddedFiles.map((file) => [(file as File).name, file.size]))),
  );
} else {
  const { runCommandLine } = await import("./cli/program.ts");
  await runCommandLine(process.argv.slice(2));
}

export {};
