from transformers import TrainingArguments


def arguments(folder):
    args = TrainingArguments(folder)
    args.dataloader_num_workers = 0  # expect: loader-no-workers
    return args
