// What a check is: a name and a function that throws. Checks run one after the other in the order in which they were
// named, each whether or not an earlier one failed.
const checks = [];
const SECONDS_MAX = 60;

/** `secondsMax` is for checks that look at many things. */
export function check(name, run, { secondsMax = SECONDS_MAX } = {}) {
  checks.push({ name, run, secondsMax });
}

/** Runs every check and gives back how many failed. */
export async function runAll() {
  let failed = 0;
  for (const { name, run, secondsMax } of checks) {
    try {
      await withinTime(run(), secondsMax);
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

async function withinTime(running, secondsMax) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done in ${secondsMax} s`)), secondsMax * 1000);
  });
  try {
    await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}
