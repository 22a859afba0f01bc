// OpenSpiel's gin_rummy in pure C++: the loops of ../openspiel_games.py, without Python.
//
//   gin_rummy_games WORKLOAD ROUNDS    prints the seconds, the decisions and the hands
//
// A round is one hand (of `deadwood`: 100 hands). Decisions of either player count, chance moves do not.

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "open_spiel/bots/gin_rummy/simple_gin_rummy_bot.h"
#include "open_spiel/games/gin_rummy/gin_rummy.h"
#include "open_spiel/games/gin_rummy/gin_rummy_utils.h"
#include "open_spiel/spiel.h"

using open_spiel::Action;
using open_spiel::Player;
using open_spiel::State;

std::mt19937_64 engine(0);

size_t Below(size_t limit) { return static_cast<size_t>((engine() >> 32) * limit >> 32); }

void MoveChance(State* state) {
  while (state->IsChanceNode()) {  // all its outcomes are equally likely
    const std::vector<Action> outcomes = state->LegalActions();
    state->ApplyAction(outcomes[Below(outcomes.size())]);
  }
}

Action Bare(const State& state) {
  const std::vector<Action> legal = state.LegalActions();
  return legal[Below(legal.size())];
}

Action WithMask(const State& state) {
  const std::vector<int> mask = state.LegalActionsMask();
  size_t skip = Below(std::accumulate(mask.begin(), mask.end(), 0));
  Action action = 0;
  while (!mask[action] || skip-- > 0) ++action;
  return action;
}

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: gin_rummy_games play|play_mask|play_observation|deadwood|simple ROUNDS\n";
    return 2;
  }
  const std::string workload = arguments[1];
  const long rounds = std::atol(arguments[2]);
  const std::shared_ptr<const open_spiel::Game> game = open_spiel::LoadGame("gin_rummy");
  std::vector<float> observation(game->ObservationTensorSize());
  long decisions = 0, hands = rounds;
  const auto start = std::chrono::steady_clock::now();

  if (workload == "deadwood") {
    const open_spiel::gin_rummy::GinRummyUtils utilities(13, 4, 10);
    std::vector<int> deck(52);
    std::iota(deck.begin(), deck.end(), 0);
    std::vector<std::vector<int>> dealt;
    for (int hand = 0; hand < 100; ++hand) {
      std::shuffle(deck.begin(), deck.end(), engine);
      dealt.emplace_back(deck.begin(), deck.begin() + 10);
    }
    volatile int last;
    for (long round = 0; round < rounds; ++round)
      for (const std::vector<int>& hand : dealt) last = utilities.MinDeadwood(hand);
    hands = rounds * dealt.size();
  } else if (workload == "simple") {
    open_spiel::gin_rummy::SimpleGinRummyBot bots[] = {{game->GetParameters(), 0}, {game->GetParameters(), 1}};
    for (long round = 0; round < rounds; ++round) {
      const std::unique_ptr<State> state = game->NewInitialState();
      for (auto& bot : bots) bot.Restart();
      for (MoveChance(state.get()); !state->IsTerminal(); MoveChance(state.get())) {
        state->ApplyAction(bots[state->CurrentPlayer()].Step(*state));
        ++decisions;
      }
    }
  } else if (workload == "play" || workload == "play_mask" || workload == "play_observation") {
    for (long round = 0; round < rounds; ++round) {
      const std::unique_ptr<State> state = game->NewInitialState();
      for (MoveChance(state.get()); !state->IsTerminal(); MoveChance(state.get())) {
        if (workload == "play_observation")
          state->ObservationTensor(state->CurrentPlayer(), absl::MakeSpan(observation));
        state->ApplyAction(workload == "play" ? Bare(*state) : WithMask(*state));
        ++decisions;
      }
    }
  } else {
    std::cerr << "unknown workload " << workload << "\n";
    return 2;
  }

  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << seconds.count() << " " << decisions << " " << hands << std::endl;
  return 0;
}
