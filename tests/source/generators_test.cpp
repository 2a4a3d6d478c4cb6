// What runs with a loop that iterates it, and loops in which an agent acts and learns.
#include <doctest/doctest.h>

#include <string>

#include "source/in_step.h"

using namespace stallscope;

namespace {

/// A function that yields in a loop: line 2 runs once, line 4 with each element.
std::string generator(const std::string& head) {
  return head +
         "\n"
         "    first = device_sum(data).item()\n"
         "    for x in data:\n"
         "        n = x.sum().item()\n"
         "        yield x, n\n";
}

/// A loop of steps over `iterated`, behind `before`.
std::string trainer(const std::string& iterated, const std::string& before = "pass") {
  return "from data import *\n"
         "def train(model, opt, data):\n"
         "    " +
         before +
         "\n"
         "    for x, n in " +
         iterated +
         ":\n"
         "        model(x).mean().backward()\n"
         "        opt.step()\n";
}

}  // namespace

TEST_CASE("a generator's body runs with the loop over it, and what stands before its loop once") {
  const std::string made = generator("def make_batches(data):");
  for (const char* iterated : {"make_batches(data)", "enumerate(tqdm(make_batches(data)))"})
    CHECK(in_step({{"data.py", made}, {"train.py", trainer(iterated)}}) == "data.py:4");
  CHECK(in_step({{"data.py", made},
                 {"train.py", trainer("batches", "batches = make_batches(data)")}}) == "data.py:4");
}

TEST_CASE("a generator is iterated beside another one, and by next() in a loop") {
  const std::string made = generator("def make_batches(data):");
  const std::string before = "batches = make_batches(data)";
  CHECK(in_step({{"data.py", made}, {"train.py", trainer("zip(data, batches)", before)}}) ==
        "data.py:4");
  const auto taken = [&](const std::string& in_loop) {
    return in_step({{"data.py", made},
                    {"train.py",
                     "from data import *\n"
                     "def train(model, opt, data):\n"
                     "    batches = make_batches(data)\n"
                     "    for i in range(9):\n"
                     "        x = " +
                         in_loop +
                         "\n"
                         "        model(x).mean().backward()\n"
                         "        opt.step()\n"}});
  };
  CHECK(taken("next(batches)") == "data.py:4");
  CHECK(taken("data[i]").empty());
}

TEST_CASE("what is no generator runs once, before the loop over what it returns") {
  const std::string made =
      "def make_batches(data):\n"
      "    n = device_sum(data).item()\n"
      "    return [x for x in data]\n";
  CHECK(in_step({{"data.py", made}, {"train.py", trainer("make_batches(data)")}}).empty());
}

TEST_CASE("a loop over an object runs its class's __iter__()") {
  const std::string made =
      "class Prefetcher:\n"
      "    def __iter__(self):\n"
      "        for x in self.data:\n"
      "            yield x, x.sum().item()\n";
  CHECK(in_step({{"data.py", made}, {"train.py", trainer("feed", "feed = Prefetcher()")}}) ==
        "data.py:4");
  CHECK(in_step({{"data.py", made}, {"train.py", trainer("data", "feed = Prefetcher()")}}).empty());
}

TEST_CASE("where an agent acts and learns, acting is a part of its steps") {
  const auto runner = [](const std::string& name, const std::string& learns) {
    return "def " + name +
           "(self, agent, env):\n"
           "    for iteration in range(100):\n"
           "        for _ in range(24):\n"
           "            obs, reward, done = env.step(agent.act(obs))\n"
           "            n = reward.sum().item()\n" +
           "        " + learns + "\n";
  };
  CHECK(in_step({{"runner.py", runner("learn", "agent.update()")}}) == "runner.py:5");
  CHECK(in_step({{"runner.py", runner("learn", "progress.update()")}}).empty());
  CHECK(in_step({{"runner.py", runner("evaluate", "agent.update()")}}).empty());
}
