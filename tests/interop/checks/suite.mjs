// What a check is: a name and a function that throws. Checks run one after the other in the order in which they were
// named, each whether or not an earlier one failed.
const checks = [];
const SECONDS_MAX = 60;

export function check(name, run) {
  checks.push({ name, run });
}

/** Runs every check and gives back how many failed. */
export async function runAll() {
  let failed = 0;
  for (const { name, run } of checks) {
    try {
      await withinTime(run());
      console.log(`ok - ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`not ok - ${name}`);
      console.log(String(error.stack ?? error).replace(/^/gm, '    # '));
    }
  }
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  return failed;
}

async function withinTime(running) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done in ${SECONDS_MAX} s`)), SECONDS_MAX * 1000);
  });
  try {
    await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}
